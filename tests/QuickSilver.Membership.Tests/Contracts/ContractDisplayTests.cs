using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Service.Topics;
using QuickSilver.Membership.Tests.Infrastructure;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Contracts;

// What a contract says for display: it goes with the contract, and never decides who may open a topic.
public sealed class ContractDisplayTests
{
    private static readonly ContractDescription Plain = Requests.Departure(new(1, "Flight", "string"), new(3, "State", "int32"));

    private static readonly Gen<ContractDescription> Displays =
        from texts in Gen.Elements(null, "char", "dateOnly", "a word that is longer than any word is", "?").ListOf(4)
        from enums in Gen.Elements(-1, 0, 1, 2).ListOf(2)
        from nullable in Gen.Elements<bool?>(null, true, false).ListOf(2)
        from count in Gen.Choose(0, 2)
        from numbers in Gen.Elements(0, 1, -1, long.MinValue, long.MaxValue).ListOf(3)
        from isFlags in Gen.Elements(true, false)
        select Plain with
        {
            Fields =
            [
                .. Plain.Fields.Select((field, at) => field with
                {
                    LogicalType = texts[at],
                    LogicalKeyType = texts[at + 2],
                    Enum = enums[at] < 0 ? null : enums[at],
                    IsNullable = nullable[at],
                }),
            ],
            Enums =
            [
                .. Enumerable.Range(0, count).Select(at => new ContractEnum(
                    $"E{at}", isFlags, [.. numbers.Select((number, i) => new ContractEnumValue($"V{i}", number))])),
            ],
        };

    [Fact]
    public void Sound_displays_go_over_the_wire_and_others_are_left_out_of_the_contract() => Prop.ForAll(
        Displays.ToArbitrary(),
        static contract =>
        {
            var read = Read(contract);
            Assert.Equal(ContractDisplay.Bounded(contract), read);
            Assert.Equal(Plain, ContractDisplay.Without(read));
            Assert.Equal(read, Read(read));
        }).QuickCheckThrowOnFailure();

    [Fact]
    public void Contracts_that_differ_in_display_only_match() => Prop.ForAll(
        Displays.ToArbitrary(),
        Displays.ToArbitrary(),
        static (one, other) =>
        {
            Assert.Null(ContractMatch.Difference("T", one, other));
            Assert.Equal(ContractDisplay.Without(one), ContractDisplay.Without(other));
            Assert.True(ContractDisplay.IsSameWithout(one, other));
            Assert.False(ContractDisplay.IsSameWithout(one, other with { Fields = [other.Fields[0]] }));
        }).QuickCheckThrowOnFailure();

    [Fact]
    public void An_enum_that_is_too_large_is_left_out_alone()
    {
        var large = new ContractEnum(
            "Errors", false, [.. Enumerable.Range(0, ContractDisplay.MaxEnumValues + 1).Select(at => new ContractEnumValue($"E{at}", at))]);
        var contract = Plain with
        {
            Fields = [Plain.Fields[0] with { IsNullable = true }, Plain.Fields[1] with { Enum = 0, IsNullable = false }],
            Enums = [large],
        };
        var bounded = ContractDisplay.Bounded(contract);
        Assert.Empty(bounded.Enums);
        Assert.Equal([true, false], bounded.Fields.Select(static field => field.IsNullable));
        Assert.All(bounded.Fields, static field => Assert.Null(field.Enum));
        Assert.Equal(bounded, Read(contract));
    }

    [Fact]
    public void Names_that_are_too_long_together_are_left_out()
    {
        var contract = Plain with { Enums = [new("E", false, [new(new string('n', ContractDisplay.MaxBytes), 1)])] };
        Assert.Equal(Plain, ContractDisplay.Bounded(contract));
    }

    [Fact]
    public void The_most_that_is_allowed_fits_into_a_request_beside_the_largest_contract()
    {
        int room = ContractDisplay.MaxBytes - 64;
        var fields = Enumerable.Range(1, ContractLimits.MaxFields).Select(static number => new ContractField(
            number, new string('n', (ContractLimits.MaxBytes / ContractLimits.MaxFields) - ContractLimits.FieldBytes - 8), "string"));
        var contract = Requests.Departure([.. fields]) with { Enums = [new("E", false, [new(new string('n', room), long.MinValue)])] };
        Assert.Null(ContractLimits.Problem("T", contract));
        Assert.Same(contract, ContractDisplay.Bounded(contract));
        var buffer = new ControlBuffer();
        ControlFrame.Append(buffer, Request(contract));
        Assert.Equal(FrameOutcome.Complete, ControlFrame.TryCut(buffer.Written, ControlFrame.MaxFromClientBytes, out _, out _, out _));
    }

    [Fact]
    public void More_versions_than_are_distinguished_never_keep_an_endpoint_out()
    {
        var registry = new ContractRegistry();
        for (int i = 0; i < 100; i++)
        {
            var contract = Plain with { Enums = [new("E", false, [new($"V{i}", i)])] };
            Open(registry, (ulong)i + 1, contract);
        }

        for (int i = 0; i < 20; i++)
        {
            Open(registry, (ulong)i + 1000, Plain with { Fields = [.. Plain.Fields, new(10 + i, $"F{i}", "int32")] });
        }

        var versions = registry.VersionsOf(Requests.Topic("T", TopicRole.Publish, Plain).TopicId);
        Assert.InRange(versions.Count, 21, 64);
        Assert.Equal(120, versions.Sum(static one => one.Nodes));
        for (int i = 0; i < 100; i++)
        {
            registry.Remove(new NodeKey((ulong)i + 1, 1), Requests.Topic("T", TopicRole.Publish, Plain).TopicId);
        }

        Assert.Equal(20, registry.VersionsOf(Requests.Topic("T", TopicRole.Publish, Plain).TopicId).Sum(static one => one.Nodes));
    }

    private static void Open(ContractRegistry registry, ulong node, ContractDescription contract)
    {
        var topic = Requests.Topic("T", TopicRole.Publish, contract);
        Assert.Null(registry.Check(new NodeKey(node, 1), topic, replaces: false, out _));
        registry.Add(new NodeKey(node, 1), topic);
    }

    private static SetTopicMessage Request(ContractDescription contract) =>
        new() { RequestId = 1, Topic = Requests.Topic("T", TopicRole.Publish, contract) };

    private static ContractDescription Read(ContractDescription contract)
    {
        var buffer = new ControlBuffer();
        Request(contract).Write(buffer);
        return SetTopicMessage.Read(buffer.Written).Topic.Contract;
    }
}
