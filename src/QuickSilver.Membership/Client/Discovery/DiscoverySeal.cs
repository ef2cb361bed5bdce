using System.Collections.Immutable;
using System.Security.Cryptography;

namespace QuickSilver.Membership.Client.Discovery;

// Authenticates discovery by the secrets of the cluster: HMAC-SHA256, of which 16 bytes are sent, over the whole datagram before them. The
// datagram has the nonce of a question, so an answer is to that question alone.
//
// A datagram with another key, or none, is ignored and not answered. So a peer without the secret gets no byte.
internal sealed class DiscoverySeal(Func<ImmutableArray<byte[]>>? keys)
{
    public const int TagBytes = 16;
    public const int MostBytes = DiscoveryDatagram.MostBytes + TagBytes;
    private const int FlagsAt = 6;
    private const byte IsSealed = 1;

    private ImmutableArray<byte[]> Keys => keys?.Invoke() ?? [];

    /// <summary>How long a datagram is, by what it says.</summary>
    public static int LengthOf(ReadOnlySpan<byte> bytes) => DiscoveryDatagram.LengthOf(bytes) + (ClaimsSeal(bytes) ? TagBytes : 0);

    /// <summary>Writes a datagram, which takes at most <see cref="MostBytes"/>; how many it took.</summary>
    public int Write(in DiscoveryDatagram datagram, Span<byte> bytes)
    {
        int length = datagram.Write(bytes);
        var known = Keys;
        if (known.IsEmpty)
        {
            return length;
        }

        bytes[FlagsAt] = IsSealed;
        Tag(datagram.Key ?? known[0], bytes[..length], bytes.Slice(length, TagBytes));
        return length + TagBytes;
    }

    /// <summary>
    /// Whether the sender of a datagram has one of the secrets, and which. Without secrets: whether the datagram claims no seal.
    /// </summary>
    public bool TryOpen(ReadOnlySpan<byte> bytes, out byte[]? key)
    {
        key = null;
        bool isSealed = ClaimsSeal(bytes);
        var known = Keys;
        if (known.IsEmpty || !isSealed)
        {
            return known.IsEmpty && !isSealed;
        }

        int length = DiscoveryDatagram.LengthOf(bytes);
        if (bytes.Length < length + TagBytes)
        {
            return false;
        }

        Span<byte> tag = stackalloc byte[TagBytes];
        foreach (byte[] one in known)
        {
            Tag(one, bytes[..length], tag);
            if (CryptographicOperations.FixedTimeEquals(tag, bytes.Slice(length, TagBytes)))
            {
                key = one;
                return true;
            }
        }

        return false;
    }

    private static bool ClaimsSeal(ReadOnlySpan<byte> bytes) => bytes.Length > FlagsAt && bytes[FlagsAt] == IsSealed;

    private static void Tag(byte[] key, ReadOnlySpan<byte> bytes, Span<byte> into)
    {
        Span<byte> whole = stackalloc byte[HMACSHA256.HashSizeInBytes];
        HMACSHA256.HashData(key, bytes, whole);
        whole[..TagBytes].CopyTo(into);
    }
}
