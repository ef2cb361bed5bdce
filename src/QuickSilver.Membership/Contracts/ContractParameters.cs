using System.Collections.Immutable;
using System.Text;

namespace QuickSilver.Membership.Contracts;

// The parameters of a topic's protocol on which all endpoints of the topic must agree. Only the protocol knows their meaning: all others
// compare the bytes. A protocol that writes them as text, such as "order=causal", makes refusals and tools readable.
internal readonly struct ContractParameters : IEquatable<ContractParameters>
{
    public const int MaxBytes = 256;

    private readonly ImmutableArray<byte> _bytes;

    public ContractParameters(ReadOnlySpan<byte> bytes) => _bytes = [.. bytes];

    /// <summary>
    /// Of an endpoint that only publishes and agrees with whatever parameters the subscribers have.
    /// </summary>
    public static ContractParameters Any { get; } = Of("*");

    /// <summary>No parameters.</summary>
    public static ContractParameters None => default;

    public ReadOnlySpan<byte> Bytes => _bytes.IsDefault ? default : _bytes.AsSpan();

    public bool IsEmpty => _bytes.IsDefaultOrEmpty;

    public bool IsAny => Equals(Any);

    public static ContractParameters Of(string text) => new(Encoding.UTF8.GetBytes(text));

    public static bool operator ==(ContractParameters left, ContractParameters right) => left.Equals(right);

    public static bool operator !=(ContractParameters left, ContractParameters right) => !left.Equals(right);

    /// <summary>Whether endpoints with these parameters can share a topic.</summary>
    public bool AgreesWith(ContractParameters other) => Equals(other) || IsAny || other.IsAny;

    public bool Equals(ContractParameters other) => Bytes.SequenceEqual(other.Bytes);

    public override bool Equals(object? obj) => obj is ContractParameters other && Equals(other);

    public override int GetHashCode()
    {
        var hash = new HashCode();
        hash.AddBytes(Bytes);
        return hash.ToHashCode();
    }

    /// <summary>The parameters for people: as text if they are printable ASCII, and otherwise in hexadecimal.</summary>
    public override string ToString() => Bytes.IndexOfAnyExceptInRange((byte)' ', (byte)'~') < 0
        ? Encoding.ASCII.GetString(Bytes)
        : $"0x{Convert.ToHexStringLower(Bytes)}";
}
