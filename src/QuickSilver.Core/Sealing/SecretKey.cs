using System.Buffers.Binary;
using System.Security.Cryptography;

namespace QuickSilver.Core.Sealing;

// 32 secret bytes, of which other keys are derived. They are drawn at random or derived of random ones, so HKDF needs no extraction
// (RFC 5869, section 3.3). Nothing but a control message to a node that may have the key shows the bytes: not ToString, no log, no dump.
internal sealed class SecretKey : IEquatable<SecretKey>
{
    public const int Bytes = 32;

    private readonly byte[] _bytes;

    /// <exception cref="ArgumentException">These are not 32 bytes.</exception>
    public SecretKey(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length != Bytes)
        {
            throw new ArgumentException($"A key has {Bytes} bytes.", nameof(bytes));
        }

        _bytes = bytes.ToArray();
    }

    /// <summary>For code that sends the key to nodes that may have it.</summary>
    public ReadOnlySpan<byte> Span => _bytes;

    /// <summary>The key of the view with this number.</summary>
    public SecretKey OfView(ulong region, uint number, long configuration)
    {
        Span<byte> info = stackalloc byte[24];
        "view"u8.CopyTo(info);
        BinaryPrimitives.WriteUInt64LittleEndian(info[4..], region);
        BinaryPrimitives.WriteUInt32LittleEndian(info[12..], number);
        BinaryPrimitives.WriteInt64LittleEndian(info[16..], configuration);
        return Derive(info);
    }

    /// <summary>The key of the cluster that is made with this configuration.</summary>
    public SecretKey OfCluster(long configuration)
    {
        Span<byte> info = stackalloc byte[15];
        "cluster"u8.CopyTo(info);
        BinaryPrimitives.WriteInt64LittleEndian(info[7..], configuration);
        return Derive(info);
    }

    /// <summary>
    /// The key of what is sent in a view, of which this is the key, after a node was removed: of both, so that a node that lacks either
    /// lacks it.
    /// </summary>
    public SecretKey OfRest(SecretKey cluster)
    {
        Span<byte> info = stackalloc byte[4 + Bytes];
        "rest"u8.CopyTo(info);
        cluster._bytes.CopyTo(info[4..]);
        return Derive(info);
    }

    /// <summary>Fills in the key of AES for what one node seals under this key in one epoch.</summary>
    public void DeriveSubkey(Sealer sealer, uint epoch, Span<byte> subkey)
    {
        Span<byte> info = stackalloc byte[21];
        "epoch"u8.CopyTo(info);
        BinaryPrimitives.WriteUInt32LittleEndian(info[5..], epoch);
        BinaryPrimitives.WriteUInt64LittleEndian(info[9..], sealer.Id);
        BinaryPrimitives.WriteUInt32LittleEndian(info[17..], sealer.Incarnation);
        HKDF.Expand(HashAlgorithmName.SHA256, _bytes, subkey, info);
    }

    /// <summary>A number by which nodes that have the key find it. It reveals nothing of the key.</summary>
    public uint Label()
    {
        Span<byte> label = stackalloc byte[sizeof(uint)];
        HKDF.Expand(HashAlgorithmName.SHA256, _bytes, label, "label"u8);
        return BinaryPrimitives.ReadUInt32LittleEndian(label);
    }

    public bool Equals(SecretKey? other) => other is not null && CryptographicOperations.FixedTimeEquals(_bytes, other._bytes);

    public override bool Equals(object? obj) => Equals(obj as SecretKey);

    public override int GetHashCode() => BinaryPrimitives.ReadInt32LittleEndian(_bytes);

    public override string ToString() => "a secret key";

    private SecretKey Derive(ReadOnlySpan<byte> info)
    {
        Span<byte> derived = stackalloc byte[Bytes];
        HKDF.Expand(HashAlgorithmName.SHA256, _bytes, derived, info);
        return new SecretKey(derived);
    }
}

// The life of a node that seals packets.
internal readonly record struct Sealer(ulong Id, uint Incarnation);

// The key of packets that concern no view. The configuration is the one that it was made with: of two, the later counts.
internal sealed record ClusterKey(long Configuration, SecretKey Key)
{
    /// <summary>The view number that packets sealed under it have on the wire. Their region is 0.</summary>
    public uint Label { get; } = Key.Label();
}
