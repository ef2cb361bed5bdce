using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Views;
using QuickSilver.Serialization;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;
using QuickSilver.Topics;

namespace QuickSilver.Tests.Topics;

public sealed class TopicContractTests
{
    private const string Name = "flights";

    [Fact]
    public async Task The_service_is_asked_with_the_payloads_schema_the_guarantee_and_the_role()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var codec = new FakeCodec(("int32", "Gate"), ("string", "Flight"));
        await node.OpenTopicAsync<int>(Name, new TopicOptions<int> { Codec = codec, Guarantee = Guarantee.BestEffort });
        var request = Assert.Single(parts.Service.Requests);
        Assert.Equal((Name, TopicId.Of(Name), TopicRole.Publish | TopicRole.Subscribe), (request.Name, request.TopicId, request.Role));
        Assert.Equal(("FakeType", "message", "BestEffort"), (request.Contract.TypeName, request.Contract.Kind, request.Contract.Guarantee));
        ContractField[] fields = [new(1, "Gate", "int32"), new(2, "Flight", "string")];
        Assert.Equal(fields, request.Contract.Fields.ToArray());
        Assert.Empty(request.Contract.Nested);
        Assert.False(parts.SenderOf(Name).IsReliable);
        Assert.False(parts.ReceiverOf(Name).IsReliable);
    }

    [Fact]
    public async Task A_refusal_by_the_service_is_an_exception_with_its_sentence_and_leaves_nothing_open()
    {
        await using var parts = new FakeParts();
        parts.Service.Refuse = _ => "field 3 is int32 Gate there and string Gate here";
        var node = await parts.StartAsync();
        var refusal = await Assert.ThrowsAsync<ContractMismatchException>(() => node.OpenTopicAsync<string>(Name)).OrFail();
        Assert.Contains("field 3 is int32 Gate there", refusal.Message);
        Assert.Equal(0, node.Status.OpenTopics);
        Assert.True(parts.SenderOf(Name).IsClosed);
        Assert.True(parts.ReceiverOf(Name).IsClosed);
        parts.Service.Refuse = null;
        await node.OpenTopicAsync<string>(Name).OrFail();
    }

    [Fact]
    public async Task A_second_endpoint_of_another_kind_is_refused_in_the_node_itself()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        await node.OpenTopicAsync<string>(Name).OrFail();
        var kind = await Assert.ThrowsAsync<ContractMismatchException>(() => node.OpenTopicAsync<byte[]>(Name)).OrFail();
        Assert.StartsWith("Topic 'flights' carries string; this endpoint has bytes.", kind.Message);
        var guarantee = await Assert.ThrowsAsync<ContractMismatchException>(
            () => node.OpenTopicAsync<string>(Name, new TopicOptions { Guarantee = Guarantee.BestEffort })).OrFail();
        Assert.Contains("guarantee Reliable; this endpoint asks for BestEffort", guarantee.Message);
        Assert.Single(parts.Service.Requests);
        Assert.Equal(1, node.Status.OpenTopics);
    }

    [Fact]
    public async Task A_second_endpoint_may_have_another_version_of_a_nested_type_and_one_that_differs_within_is_refused()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        await node.OpenTopicAsync<int>(Name, new TopicOptions<int> { Codec = Holding(("string", "From")) }).OrFail();
        await node.OpenTopicAsync<int>(Name, new TopicOptions<int> { Codec = Holding(("string", "Origin"), ("string", "To")) }).OrFail();
        var refusal = await Assert.ThrowsAsync<ContractMismatchException>(
            () => node.OpenTopicAsync<int>(Name, new TopicOptions<int> { Codec = Holding(("int32", "From")) })).OrFail();
        Assert.StartsWith(
            "Topic 'flights' carries FakeType(message) with field 1.1 'Leg.From' of type string; this endpoint has type int32.",
            refusal.Message);
        var asked = Assert.Single(parts.Service.Requests).Contract;
        Assert.Equal([new ContractField(1, "Leg", "message") { Message = 1 }], asked.Fields.ToArray());
        Assert.Equal(new ContractMessage("Held", [new ContractField(1, "From", "string")]), Assert.Single(asked.Nested));
    }

    [Fact]
    public async Task A_schema_that_the_service_would_refuse_is_refused_before_it_is_asked()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var wide = new FakeCodec([.. Enumerable.Range(0, PayloadSchema.MaxFields + 1).Select(at => ("int32", $"F{at}"))]);
        var options = new TopicOptions<int> { Codec = wide };
        var refusal = await Assert.ThrowsAsync<NotSupportedException>(() => node.OpenTopicAsync<int>(Name, options)).OrFail();
        Assert.Contains("Topic 'flights': the contract of FakeType has more than 4096 fields", refusal.Message);
        Assert.Empty(parts.Service.Requests);
        Assert.Equal(0, node.Status.OpenTopics);
    }

    [Fact]
    public async Task A_type_without_a_codec_is_refused_with_what_to_do()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var refusal = await Assert.ThrowsAsync<NotSupportedException>(() => node.OpenTopicAsync<DateTimeKind>(Name));
        Assert.Contains("DateTimeKind", refusal.Message);
        Assert.Contains("[DataContract]", refusal.Message);
    }

    [Theory]
    [InlineData("", "1 to 255")]
    [InlineData("a\nb", "U+000A at position 1")]
    [InlineData("prices/*", "'*' at position 7")]
    [InlineData("prices/#", "OpenPrefixAsync")]
    [InlineData("prices.>", "one topic")]
    [InlineData("price?", "'?' at position 5")]
    [InlineData("+/prices", "'+' at position 0")]
    [InlineData("prices/+/bid", "'+' at position 7")]
    [InlineData("prices/+", "'+' at position 7")]
    public async Task A_name_that_cannot_be_a_topics_is_refused(string name, string reason)
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var refusal = await Assert.ThrowsAsync<ArgumentException>(() => node.OpenTopicAsync<string>(name));
        Assert.Contains(reason, refusal.Message);
    }

    [Fact]
    public void Names_of_1_to_255_characters_of_any_script_are_allowed()
    {
        TopicName.Check("a");
        TopicName.Check("flights/ORD – départs 航班 🛫");
        TopicName.Check("c++/a+b/+1");
        TopicName.Check(new string('x', 255));
        Assert.Throws<ArgumentException>(() => TopicName.Check(new string('x', 256)));
        Assert.Contains("position 1", Assert.Throws<ArgumentException>(() => TopicName.Check("a\ud83d")).Message);
        Assert.Contains("position 0", Assert.Throws<ArgumentException>(() => TopicName.Check("\ude42a")).Message);
    }

    private static FakeCodec Holding(params (string Type, string Name)[] within)
    {
        var held = new PayloadMessage("Held", [.. within.Select((field, i) => new PayloadField(i + 1, field.Name, field.Type))]);
        return new FakeCodec(("message", "Leg"))
        {
            Schema = new("FakeType", "message", [new PayloadField(1, "Leg", "message") { Message = 1 }]) { Nested = [held] },
        };
    }

    private sealed class FakeCodec(params (string Type, string Name)[] fields) : IPayloadCodec<int>
    {
        public PayloadSchema Schema { get; init; } =
            new("FakeType", "message", [.. fields.Select((field, i) => new PayloadField(i + 1, field.Name, field.Type))]);

        public int GetSize(in int value) => 0;

        public int Write(in int value, Span<byte> destination) => 0;

        public int Read(ReadOnlySpan<byte> source) => 0;
    }
}
