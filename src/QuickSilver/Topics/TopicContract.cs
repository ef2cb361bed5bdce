using System.Collections.Immutable;
using QuickSilver.Core.Serialization;
using QuickSilver.Membership.Client;

namespace QuickSilver.Topics;

// What an endpoint asks of its topic, as the membership service registers and matches it; and the same match within one
// node, where a second endpoint of a topic joins the first without asking the service.
internal static class TopicContract
{
    public static ContractDescription Describe(PayloadSchema schema, TopicOptions options) => new()
    {
        TypeName = schema.TypeName,
        Kind = schema.Kind,
        Guarantee = options.Guarantee.ToString(),
        Fields = [.. schema.Fields.Select(field => new ContractField(field.Number, field.Name, field.Type))],
    };

    /// <summary>
    /// Null when endpoints of both contracts can share a topic; otherwise a sentence that names what differs. A field that
    /// only one of them has is optional and compatible, as in protobuf.
    /// </summary>
    public static string? Difference(string topic, ContractDescription open, ContractDescription asked)
    {
        if (open.Kind != asked.Kind)
        {
            return $"The topic \"{topic}\" carries {open.Kind} ({open.TypeName}); {asked.Kind} ({asked.TypeName}) was asked for.";
        }

        if (open.Guarantee != asked.Guarantee)
        {
            return $"The topic \"{topic}\" has the guarantee {open.Guarantee}; {asked.Guarantee} was asked for.";
        }

        if (open.Security != asked.Security)
        {
            return $"The topic \"{topic}\" has the security {open.Security}; {asked.Security} was asked for.";
        }

        return FieldDifference(open.Fields, asked.Fields) is { } difference
            ? $"The topic \"{topic}\" carries {open.TypeName}, which differs from {asked.TypeName}: {difference}."
            : null;
    }

    // A nested message's fields repeat numbers, so a field is known by the path of its name's parents and its number.
    private static string? FieldDifference(ImmutableArray<ContractField> open, ImmutableArray<ContractField> asked)
    {
        foreach (var field in asked)
        {
            foreach (var known in open)
            {
                if (known.Number == field.Number && Parent(known) == Parent(field) && known.Type != field.Type)
                {
                    return $"field {field.Number} is {known.Type} {known.Name} there and {field.Type} {field.Name} here";
                }
            }
        }

        return null;
    }

    private static string Parent(ContractField field)
    {
        int dot = field.Name.LastIndexOf('.');
        return dot < 0 ? "" : field.Name[..dot];
    }
}
