using System.Collections.Immutable;

namespace QuickSilver.Membership.Contracts;

internal readonly record struct ContractEnumValue(string Name, long Number);

// An enum within the payload, for people and their tools only.
internal sealed record ContractEnum(string Name, bool IsFlags, ImmutableArray<ContractEnumValue> Values)
{
    public bool Equals(ContractEnum? other) => ReferenceEquals(this, other) || (other is not null
        && Name == other.Name && IsFlags == other.IsFlags && Values.AsSpan().SequenceEqual(other.Values.AsSpan()));

    public override int GetHashCode()
    {
        var hash = new HashCode();
        hash.Add(Name);
        hash.Add(IsFlags);
        foreach (var value in Values)
        {
            hash.Add(value);
        }

        return hash.ToHashCode();
    }
}
