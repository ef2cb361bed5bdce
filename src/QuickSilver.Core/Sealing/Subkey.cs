using System.Buffers.Binary;
using System.Security.Cryptography;
using QuickSilver.Core.Wire;

namespace QuickSilver.Core.Sealing;

// AES-256-GCM under the subkey of one sealer in one epoch.
//
// Invariant, for the sealing node: a counter is used once for data and once for other packets.
internal sealed class Subkey : IDisposable
{
    private readonly PacketCipher _cipher;
    private readonly Sealer _sealer;

    public Subkey(SecretKey key, Sealer sealer, uint epoch)
    {
        Span<byte> subkey = stackalloc byte[SecretKey.Bytes];
        key.DeriveSubkey(sealer, epoch, subkey);
        _cipher = PacketCipher.Create(subkey);
        CryptographicOperations.ZeroMemory(subkey);
        _sealer = sealer;
        Epoch = epoch;
    }

    public uint Epoch { get; }

    /// <param name="plain">The packet.</param>
    /// <param name="into">Gets its sealed form, which is longer by a trailer. Does not overlap it.</param>
    /// <param name="counter">A counter that was not used yet.</param>
    /// <param name="label">The view number in the header; null: that of the packet.</param>
    public void Seal(ReadOnlySpan<byte> plain, Span<byte> into, ulong counter, uint? label = null)
    {
        SealedPacket.WriteFrame(plain, into, _sealer, Epoch, counter);
        if (label is { } view)
        {
            BinaryPrimitives.WriteUInt32LittleEndian(into[PacketHeader.ViewOffset..], view);
        }

        Span<byte> nonce = stackalloc byte[PacketCipher.NonceBytes];
        SealedPacket.WriteNonce(nonce, new PacketHeader(into).Kind, counter);
        _cipher.Encrypt(
            nonce, plain[PacketHeader.Bytes..], SealedPacket.Body(into), SealedPacket.Tag(into), into[..PacketHeader.Bytes]);
    }

    /// <summary>
    /// Opens a whole packet where it lies. False: it is not what this sealer sealed, and its body is destroyed.
    /// </summary>
    public bool TryOpen(Span<byte> packet)
    {
        Span<byte> nonce = stackalloc byte[PacketCipher.NonceBytes];
        var header = packet[..PacketHeader.Bytes];
        SealedPacket.WriteNonce(nonce, new PacketHeader(packet).Kind, SealedPacket.CounterOf(packet));
        if (!_cipher.TryDecrypt(nonce, SealedPacket.Body(packet), SealedPacket.Tag(packet), header))
        {
            return false;
        }

        SealedPacket.ClearFrame(packet);
        return true;
    }

    public void Dispose() => _cipher.Dispose();
}
