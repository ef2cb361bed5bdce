using System.Collections.Immutable;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Contracts;

// Types that hold each other and themselves in any way, and what a version of them may change.
public sealed class ContractMatchPropertyTests
{
    private static readonly string[] Types = ["int32", "string", "double", "repeated int32", "map<string, int32>"];
    private static readonly string[] Holders = ["message", "repeated message", "map<string, message>"];

    private static readonly Arbitrary<(ContractDescription Contract, int Seed)> Contracts = (
        from nested in Gen.Choose(0, 6)
        from messages in Gen.ArrayOf(Fields(nested), nested + 1)
        from seed in Gen.Choose(0, int.MaxValue - 1)
        select (Of(messages), seed)).ToArbitrary();

    [Fact]
    public void A_contract_matches_itself_and_a_version_that_added_removed_and_renamed() => Prop.ForAll(Contracts, drawn =>
    {
        var random = new Random(drawn.Seed);
        // A version keeps something of each message: the first field, but for its name.
        var version = Map(drawn.Contract, (field, _) => (field.Number == 1 ? 1 : random.Next(4)) switch
        {
            0 => null,
            1 => field with { Name = field.Name + "Renamed" },
            2 => field with { Number = field.Number + 1000, Name = field.Name + "Added" },
            _ => field,
        });
        version = version with { Nested = [.. version.Nested.Select(message => message with { Name = message.Name + "Renamed" })] };
        Assert.Null(ContractMatch.Difference("T", drawn.Contract, Map(drawn.Contract, (field, _) => field)));
        Assert.Null(ContractMatch.Difference("T", drawn.Contract, version));
        Assert.Null(ContractMatch.Difference("T", version, drawn.Contract));
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void A_changed_type_is_a_mismatch_exactly_where_the_payload_can_hold_it() => Prop.ForAll(Contracts, drawn =>
    {
        var random = new Random(drawn.Seed);
        int changed = random.Next(drawn.Contract.Nested.Length + 1);
        var fields = drawn.Contract.FieldsOf(changed);
        if (fields.IsEmpty)
        {
            return;
        }

        var victim = fields[random.Next(fields.Length)];
        var version = Map(drawn.Contract, (field, message) => message == changed && field == victim ? field with { Type = "bool" } : field);
        string? forward = ContractMatch.Difference("T", drawn.Contract, version);
        string? backward = ContractMatch.Difference("T", version, drawn.Contract);
        Assert.Equal(Reachable(drawn.Contract).Contains(changed), forward is not null);
        Assert.Equal(forward is null, backward is null);
        if (forward is not null)
        {
            Assert.Contains($"{victim.Number} '", forward);
            Assert.Contains($"{victim.Name}' of type", forward);
            // A message's type is known by its name, which stands for "message" and may be the changed word's.
            Assert.EndsWith("this endpoint has type bool.", forward);
        }
    }).QuickCheckThrowOnFailure();

    private static Gen<ContractField[]> Fields(int nested) =>
        from count in Gen.Choose(0, 6)
        from drawn in Gen.ArrayOf(
            from isHolder in Gen.Elements(true, false)
            from type in Gen.Elements(isHolder ? Holders : Types)
            from message in Gen.Choose(0, nested)
            select (Type: type, Message: isHolder ? (int?)message : null), count)
        select drawn.Select((field, at) => new ContractField((at * 3) + 1, $"F{at}", field.Type) { Message = field.Message }).ToArray();

    private static ContractDescription Of(ContractField[][] messages) => Requests.Departure(messages[0]) with
    {
        Nested = [.. messages.Skip(1).Select((fields, at) => new ContractMessage($"M{at + 1}", [.. fields]))],
    };

    private static ContractDescription Map(ContractDescription contract, Func<ContractField, int, ContractField?> change)
    {
        return contract with
        {
            Fields = Changed(contract.Fields, 0),
            Nested = [.. contract.Nested.Select((message, at) => message with { Fields = Changed(message.Fields, at + 1) })],
        };

        ImmutableArray<ContractField> Changed(ImmutableArray<ContractField> fields, int message) =>
            [.. fields.Select(field => change(field, message)).OfType<ContractField>().OrderBy(field => field.Number)];
    }

    private static HashSet<int> Reachable(ContractDescription contract)
    {
        var found = new HashSet<int> { 0 };
        var open = new Queue<int>([0]);
        while (open.TryDequeue(out int message))
        {
            foreach (var field in contract.FieldsOf(message))
            {
                if (field.Message is { } held && found.Add(held))
                {
                    open.Enqueue(held);
                }
            }
        }

        return found;
    }
}
