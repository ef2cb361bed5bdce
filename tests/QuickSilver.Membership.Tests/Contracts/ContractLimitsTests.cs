using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Contracts;

public sealed class ContractLimitsTests
{
    private static string? Problem(params ContractField[] fields) => ContractLimits.Problem("T", Requests.Departure(fields));

    [Fact]
    public void The_largest_contract_that_is_allowed_goes_over_the_wire_and_comes_back_as_it_was()
    {
        int nameBytes = (ContractLimits.MaxBytes / ContractLimits.MaxFields) - ContractLimits.FieldBytes - "string".Length - 4;
        var contract = Requests.Departure([.. Enumerable.Range(1, ContractLimits.MaxFields - ContractLimits.MaxNested).Select(Field)]) with
        {
            Nested = [.. Enumerable.Range(1, ContractLimits.MaxNested).Select(at => new ContractMessage("M", [Field(536_870_911 - at)]))],
        };
        Assert.Null(ContractLimits.Problem("T", contract));

        var request = new SetTopicMessage
        {
            RequestId = ulong.MaxValue,
            Topic = Requests.Topic(new string('t', 255), TopicRole.Publish | TopicRole.Subscribe, contract),
            Held = true,
        };
        var buffer = new ControlBuffer();
        ControlFrame.Append(buffer, request);
        Assert.Equal(
            FrameOutcome.Complete, ControlFrame.TryCut(buffer.Written, ControlFrame.MaxFromClientBytes, out _, out var body, out _));
        Assert.Equal(contract, SetTopicMessage.Read(body).Topic.Contract);

        ContractField Field(int number) =>
            new(number, new string('n', Math.Max(1, nameBytes)), "string") { Message = ContractLimits.MaxNested };
    }

    [Fact]
    public void The_wire_carries_what_a_contract_says_of_its_messages()
    {
        var buffer = new ControlBuffer();
        var holdsItself = new ContractField(3, "Self", "message") { Message = 0 };
        var contract = Requests.Nested("string") with { Fields = [.. Requests.Nested("string").Fields, holdsItself] };
        new SetTopicMessage { RequestId = 1, Topic = Requests.Topic("T", TopicRole.Publish, contract) }.Write(buffer);
        Assert.Equal(contract, SetTopicMessage.Read(buffer.Written).Topic.Contract);
    }

    [Fact]
    public void Numbers_that_repeat_are_out_of_order_or_out_of_range_are_named()
    {
        Assert.Null(Problem(new(1, "A", "string"), new(536_870_911, "B", "string")));
        Assert.Equal(
            "Topic 'T': the contract of Departure has two fields numbered 1.",
            Problem(new(1, "A", "string"), new(1, "B", "string")));
        Assert.Contains("has field 1 after field 2", Problem(new(2, "A", "string"), new(1, "B", "string")));
        Assert.Contains("has a field numbered 0;", Problem(new ContractField(0, "A", "string")));
        Assert.Contains("has a field numbered 536870912;", Problem(new ContractField(536_870_912, "A", "string")));
        var leg = new ContractMessage("Leg", [new(1, "A", "string"), new(1, "B", "string")]);
        Assert.Equal(
            "Topic 'T': the contract of Departure contains Leg, which has two fields numbered 1.",
            ContractLimits.Problem("T", Requests.Departure() with { Nested = [leg] }));
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(2)]
    [InlineData(int.MaxValue)]
    public void A_message_that_is_not_described_is_named(int message) => Assert.Contains(
        $"has field 7 with message {message} of 1",
        ContractLimits.Problem("T", Requests.Nested("string") with { Fields = [new(7, "A", "message") { Message = message }] }));

    [Fact]
    public void Too_many_messages_fields_or_bytes_are_named()
    {
        var message = new ContractMessage("M", []);
        Assert.Contains(
            "contains more than 512 message types",
            ContractLimits.Problem("T", Requests.Departure() with { Nested = [.. Enumerable.Repeat(message, 513)] }));
        Assert.Contains("more than 4096 fields", Problem([.. Enumerable.Range(1, 4097).Select(n => new ContractField(n, "F", "int32"))]));
        string longName = new('n', 1000);
        Assert.Contains("bytes to describe", Problem([.. Enumerable.Range(1, 200).Select(n => new ContractField(n, longName, "int32"))]));
        Assert.Contains("a name of 2000 bytes, 'éééé", Problem(new ContractField(1, new string('é', 1000), "int32")));
    }
}
