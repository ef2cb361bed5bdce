using System.Collections.Immutable;

namespace QuickSilver.Membership.Contracts;

// One field of a message: its number, its name, and its wire type as a word ("int32", "string", "repeated message", …). Message says
// which message it holds: 0 is the payload itself, n the n-th nested one; null: none. The others are for display, null where not known:
// the .NET types of the value and of a map's key, the enum that the value is, and whether the member may be null.
internal sealed record ContractField(int Number, string Name, string Type)
{
    public int? Message { get; init; }
    public string? LogicalType { get; init; }
    public string? LogicalKeyType { get; init; }
    public int? Enum { get; init; }
    public bool? IsNullable { get; init; }
}

// A message type within the payload. Its name is for people only.
internal sealed record ContractMessage(string Name, ImmutableArray<ContractField> Fields)
{
    public bool Equals(ContractMessage? other) =>
        ReferenceEquals(this, other) || (other is not null && Name == other.Name && Fields.AsSpan().SequenceEqual(other.Fields.AsSpan()));

    public override int GetHashCode()
    {
        var hash = new HashCode();
        hash.Add(Name);
        foreach (var field in Fields)
        {
            hash.Add(field);
        }

        return hash.ToHashCode();
    }
}

// What endpoints of one topic must agree on. Kind is the payload's family: "bytes", "string", or "message" with Fields. Fields that hold
// messages refer to Nested, where each message type stands once: so the description of a recursive type ends, and one of types that hold
// each other many times stays small. Guarantee is the guarantee's name, Security likewise. Enums are for display, as parts of the fields
// are: two descriptions that differ in nothing else always match, but they are not equal. A pinned topic owns its region: its subscribers
// are the region's members, and get each of its views.
internal sealed record ContractDescription
{
    // Of a subscriber that takes any payload, as it shows what it gets and does not read it into a type. It agrees with every payload.
    public const string AnyKind = "any";

    // Of a state and of requests. Their subscribers answer what is sent, so that one which takes any payload would be waited for in vain.
    public const string StateKind = "state";
    public const string RequestKind = "request";

    public required string TypeName { get; init; }
    public required string Kind { get; init; }
    public required string Guarantee { get; init; }
    public string Security { get; init; } = "None";
    public bool IsPinned { get; init; }

    /// <summary>The parameters of the protocol that provides the guarantee.</summary>
    public ContractParameters Parameters { get; init; }

    public ImmutableArray<ContractField> Fields { get; init; } = [];
    public ImmutableArray<ContractMessage> Nested { get; init; } = [];
    public ImmutableArray<ContractEnum> Enums { get; init; } = [];

    /// <summary>Whether the topic's messages are payloads alone, which each endpoint of the topic may publish or take.</summary>
    public bool IsOfMessages => Kind is not (StateKind or RequestKind);

    public ImmutableArray<ContractField> FieldsOf(int message) => message == 0 ? Fields : Nested[message - 1].Fields;

    public string NameOf(int message) => message == 0 ? TypeName : Nested[message - 1].Name;

    // By what they say: topics by the thousand have one contract among them.
    public bool Equals(ContractDescription? other) => ReferenceEquals(this, other) || (other is not null
        && TypeName == other.TypeName && Kind == other.Kind && Guarantee == other.Guarantee && Security == other.Security
        && IsPinned == other.IsPinned && Parameters == other.Parameters
        && Fields.AsSpan().SequenceEqual(other.Fields.AsSpan()) && Nested.AsSpan().SequenceEqual(other.Nested.AsSpan())
        && Enums.AsSpan().SequenceEqual(other.Enums.AsSpan()));

    public override int GetHashCode()
    {
        var hash = new HashCode();
        hash.Add(TypeName);
        hash.Add(Kind);
        hash.Add(Guarantee);
        hash.Add(Security);
        hash.Add(IsPinned);
        hash.Add(Parameters);
        foreach (var field in Fields)
        {
            hash.Add(field);
        }

        foreach (var message in Nested)
        {
            hash.Add(message);
        }

        foreach (var one in Enums)
        {
            hash.Add(one);
        }

        return hash.ToHashCode();
    }
}
