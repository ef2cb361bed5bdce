using System.Buffers.Binary;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Wire;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Network;

// What an attacker on the network without a key makes of a sealed packet that passes by (F18): the same once more, the same with a higher
// sequence, random bytes under its header, and a packet that is well formed and sealed under a key of their own.
internal static class SealedForgery
{
    private const int Kinds = 4;
    private const int SealerBytes = sizeof(ulong) + sizeof(uint);

    private static readonly SecretKey ForeignKey = new("a key that no node of it was told"u8[..SecretKey.Bytes]);

    public static bool IsSealed(ReadOnlySpan<byte> datagram) =>
        datagram.Length >= SealedPacket.LeastBytes
        && new PacketHeader(datagram) is { Version: PacketHeader.CurrentVersion, TagBytes: SealedPacket.TrailerBytes } header
        && header.Length == datagram.Length;

    public static void Make(Span<byte> datagram, SeededRandom random)
    {
        switch (random.Below(Kinds))
        {
            case 0:
                Randomize(SealedPacket.Body(datagram), random);
                Randomize(SealedPacket.Tag(datagram), random);
                break;
            case 1:
                var sequence = datagram[PacketHeader.SequenceOffset..];
                long raised = BinaryPrimitives.ReadInt64LittleEndian(sequence) + 1 + random.Below(1000);
                BinaryPrimitives.WriteInt64LittleEndian(sequence, raised);
                break;
            case 2:
                SealAnew(datagram);
                break;
            default:
                // Unchanged.
                break;
        }
    }

    /// <summary>One bit is another.</summary>
    public static void FlipBit(Span<byte> datagram, SeededRandom random)
    {
        int bit = random.Below(datagram.Length * 8);
        datagram[bit / 8] ^= (byte)(1 << (bit % 8));
    }

    /// <summary>It claims that the node has sealed it, and sent it, that has sealed the other one.</summary>
    public static void ClaimSealer(Span<byte> datagram, ReadOnlySpan<byte> other)
    {
        other[^SealedPacket.TrailerBytes..][..SealerBytes].CopyTo(datagram[^SealedPacket.TrailerBytes..]);
        other.Slice(PacketHeader.SenderOffset, SealerBytes).CopyTo(datagram[PacketHeader.SenderOffset..]);
    }

    private static void SealAnew(Span<byte> datagram)
    {
        byte[] plain = datagram[..^SealedPacket.TrailerBytes].ToArray();
        uint epoch = new PacketHeader(datagram).KeyEpoch;
        ulong counter = SealedPacket.CounterOf(datagram);
        using var subkey = new Subkey(ForeignKey, SealedPacket.SealerOf(datagram), epoch);
        subkey.Seal(plain, datagram, counter);
    }

    private static void Randomize(Span<byte> bytes, SeededRandom random)
    {
        foreach (ref byte one in bytes)
        {
            one = (byte)random.Below(256);
        }
    }
}
