using System.Collections.Immutable;

namespace QuickSilver.Membership.Contracts;

// Whether endpoints of two contracts can share a topic. The membership service asks it, and a node whose second endpoint of a topic
// joins the first without asking the service.
//
// A field is known by its path, the numbers of the fields around it, and its own number. One that both have must be of one type.
// One that a side lacks is optional and compatible, as in protobuf, and so is another name. A name that has another number on
// each side, with the same type, is considered a number that was changed: each side would read the other's field as absent.
// Two messages that both have fields, and none in common, are no versions of one type: each side would read nothing but defaults.
//
// Both descriptions are graphs, as types hold themselves and each other. They are walked together; a pair of messages that was seen is
// not entered again, so the walk ends after as many pairs as there can be, which ContractLimits bounds.
internal sealed class ContractMatch
{
    // What a refusal says of a topic that a subscriber of any payload cannot have, or that has another guarantee.
    private const string MustAnswer = "which subscribers have to answer";
    private const string HasGuarantee = "has guarantee";

    // A sentence names no more of a path than its end, and no more of a name than its beginning: it must fit into a reply.
    private const int MaxPathNamed = 16;
    private const int MaxNameChars = 96;
    private const int MaxFieldsNamed = 4;

    private readonly ContractDescription _open;
    private readonly ContractDescription _asked;
    private readonly HashSet<(int Open, int Asked)> _seen = [];
    // Breadth first: the difference that is reported is one of those nearest to the payload, and deep types need no deep stack.
    private readonly List<Pair> _pairs = [];

    // Two messages that stand in one place, and how it was come to: from which pair and by which field.
    private readonly record struct Pair(int Open, int Asked, int From, ContractField? By);

    private ContractMatch(ContractDescription open, ContractDescription asked)
    {
        _open = open;
        _asked = asked;
    }

    /// <summary>Whether a refusal is of an answered topic, or of one of another guarantee.</summary>
    public static bool IsOfAnsweredOrGuarantee(string refusal) =>
        refusal.Contains(MustAnswer, StringComparison.Ordinal) || refusal.Contains(HasGuarantee, StringComparison.Ordinal);

    /// <summary>Null when they can; otherwise a sentence that names the topic and what differs.</summary>
    public static string? Difference(string topic, ContractDescription open, ContractDescription asked) =>
        Difference($"Topic '{topic}'", "carries", open, asked);

    /// <summary>The same of something else than a topic.</summary>
    /// <param name="subject">What has the contract, at the beginning of the sentence.</param>
    /// <param name="carries">The verb between it and the type of its payload.</param>
    /// <param name="open">The contract that it has.</param>
    /// <param name="asked">The other one.</param>
    public static string? Difference(string subject, string carries, ContractDescription open, ContractDescription asked)
    {
        if (ReferenceEquals(open, asked))
        {
            return null;
        }

        if (asked.Kind == ContractDescription.AnyKind && !open.IsOfMessages)
        {
            return $"{subject} {carries} {Describe(open)}, {MustAnswer}; this endpoint takes any payload and answers "
                + "none.";
        }

        bool takesAny = open.Kind == ContractDescription.AnyKind || asked.Kind == ContractDescription.AnyKind;
        if (open.Kind != asked.Kind && !takesAny)
        {
            return $"{subject} {carries} {Describe(open)}; this endpoint has {Describe(asked)}.";
        }

        if (open.Guarantee != asked.Guarantee)
        {
            return $"{subject} {HasGuarantee} {open.Guarantee}; this endpoint asks for {asked.Guarantee}.";
        }

        if (!open.Parameters.AgreesWith(asked.Parameters))
        {
            return $"{subject} has the guarantee {open.Guarantee} with {Parameters(open)}; this endpoint asks for {Parameters(asked)}.";
        }

        if (open.Security != asked.Security)
        {
            return $"{subject} has security {open.Security}; this endpoint asks for {asked.Security}.";
        }

        if (open.IsPinned != asked.IsPinned)
        {
            return $"{subject} {Regions(open)}; this endpoint asks for a topic that {Regions(asked)}.";
        }

        return !takesAny && new ContractMatch(open, asked).FieldDifference() is { } difference
            ? $"{subject} {carries} {Describe(open)} with {difference}"
            : null;
    }

    private string? FieldDifference()
    {
        Enter(0, 0, from: -1, by: null);
        for (int at = 0; at < _pairs.Count; at++)
        {
            if (Compare(at, _open.FieldsOf(_pairs[at].Open), _asked.FieldsOf(_pairs[at].Asked)) is { } difference)
            {
                return difference;
            }
        }

        return null;
    }

    private void Enter(int open, int asked, int from, ContractField? by)
    {
        if (_seen.Add((open, asked)))
        {
            _pairs.Add(new Pair(open, asked, from, by));
        }
    }

    // Both are in the order of their numbers.
    private string? Compare(int at, ImmutableArray<ContractField> open, ImmutableArray<ContractField> asked)
    {
        Dictionary<string, ContractField>? openByName = null;
        int next = 0;
        bool shares = open.IsEmpty || asked.IsEmpty;
        foreach (var field in asked)
        {
            while (next < open.Length && open[next].Number < field.Number)
            {
                next++;
            }

            var known = next < open.Length && open[next].Number == field.Number ? open[next] : null;
            shares |= known is not null;
            if (known is not null && known.Type != field.Type)
            {
                string renamed = known.Name == field.Name ? "" : $"it as '{Clip(field.Name)}' of ";
                return $"{Field(at, known)}; this endpoint has {renamed}type {TypeOf(_asked, field)}.";
            }

            if (known?.Name != field.Name)
            {
                openByName ??= ByName(open);
                if (openByName.TryGetValue(field.Name, out var other) && other.Type == field.Type)
                {
                    return $"{Field(at, other)}; this endpoint has it as field {Path(at, field, static step => $"{step.Number}")} of type"
                        + $" {TypeOf(_asked, field)}. Keep the number of an existing field, and give a new field another name.";
                }
            }

            if (known?.Message is { } openMessage && field.Message is { } askedMessage)
            {
                Enter(openMessage, askedMessage, at, known);
            }
        }

        return shares ? null : Unrelated(at, open, asked);
    }

    private string Unrelated(int at, ImmutableArray<ContractField> open, ImmutableArray<ContractField> asked)
    {
        var pair = _pairs[at];
        string place = pair.By is { } by ? $"{Field(pair.From, by)}, which has " : "";
        return $"{place}{List(open)}; this endpoint has {Clip(_asked.NameOf(pair.Asked))} with {List(asked)}."
            + " They share no field number, so each would read the other as empty. Keep at least one field in all versions of a type.";
    }

    private static string List(ImmutableArray<ContractField> fields) =>
        (fields.Length == 1 ? "field " : "fields ")
        + string.Join(", ", fields.Take(MaxFieldsNamed).Select(static field => $"{field.Number} '{Clip(field.Name)}'"))
        + (fields.Length > MaxFieldsNamed ? ", …" : "");

    private static Dictionary<string, ContractField> ByName(ImmutableArray<ContractField> fields)
    {
        var byName = new Dictionary<string, ContractField>(fields.Length);
        foreach (var field in fields)
        {
            byName.TryAdd(field.Name, field);
        }

        return byName;
    }

    private string Field(int at, ContractField field) =>
        $"field {Path(at, field, static step => $"{step.Number}")} '{Path(at, field, static step => Clip(step.Name))}'"
        + $" of type {TypeOf(_open, field)}";

    private string Path(int at, ContractField field, Func<ContractField, string> part)
    {
        var parts = new List<string> { part(field) };
        while (_pairs[at].By is { } by)
        {
            if (parts.Count == MaxPathNamed)
            {
                parts.Add("…");
                break;
            }

            parts.Add(part(by));
            at = _pairs[at].From;
        }

        parts.Reverse();
        return string.Join('.', parts);
    }

    private static string TypeOf(ContractDescription contract, ContractField field) => Clip(
        field.Message is { } message ? field.Type.Replace("message", contract.NameOf(message), StringComparison.Ordinal) : field.Type);

    // Text and bytes have no type beside their kind, and a joined schema names its kind itself, as in "state(string, int32)".
    private static string Describe(ContractDescription contract) =>
        contract.TypeName == contract.Kind || contract.TypeName.StartsWith($"{contract.Kind}(", StringComparison.Ordinal)
            ? Clip(contract.TypeName)
            : $"{Clip(contract.TypeName)}({contract.Kind})";

    private static string Regions(ContractDescription contract) =>
        contract.IsPinned ? "has a region of its own" : "shares regions with other topics";

    private static string Parameters(ContractDescription contract) =>
        contract.Parameters.IsEmpty ? "no parameters" : $"the parameters {Clip(contract.Parameters.ToString())}";

    private static string Clip(string name) => name.Length <= MaxNameChars ? name : name[..MaxNameChars] + "…";
}
