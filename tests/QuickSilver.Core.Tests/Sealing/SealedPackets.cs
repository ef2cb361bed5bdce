using QuickSilver.Core.Sealing;
using QuickSilver.Core.Wire;

namespace QuickSilver.Core.Tests.Sealing;

// Packets and keys for tests.
internal static class SealedPackets
{
    public const ulong Cluster = 9;

    public static readonly Sealer Self = new(21, 4);
    public static readonly SecretKey Key = KeyOf(1);

    public static SecretKey KeyOf(byte number) => new(Enumerable.Repeat(number, SecretKey.Bytes).ToArray());

    public static byte[] Plain(byte[] body, PacketKind kind = PacketKind.Data, long sequence = 1)
    {
        var packet = new byte[PacketHeader.Bytes + body.Length];
        new PacketTemplate(Cluster, Self.Id, Self.Incarnation, 5, 6).Write(packet, kind, PacketFlags.AckWanted, sequence, 0, 0);
        body.CopyTo(packet, PacketHeader.Bytes);
        PacketTemplate.Seal(packet);
        return packet;
    }

    public static byte[] Seal(PacketSealer sealer, byte[] plain)
    {
        var sealedPacket = new byte[plain.Length + SealedPacket.TrailerBytes];
        sealer.Seal(plain, plain.Length, sealedPacket);
        return sealedPacket;
    }

    public static DropReason Open(PacketOpener opener, byte[] packet)
    {
        var refused = SealedPacket.Validate(packet, Cluster);
        return refused == DropReason.None ? opener.Open(packet, SealedPacket.SealerOf(packet)) : refused;
    }

    /// <summary>Allows so many subkeys to be derived.</summary>
    /// <param name="left">So many.</param>
    /// <param name="old">And so many packets that may have come before.</param>
    internal sealed class Budget(int left = int.MaxValue, int old = 0) : ISubkeyBudget
    {
        public int Taken { get; private set; }

        public bool TryTake() => left-- > 0 && ++Taken > 0;

        public bool TryTakeOld() => old-- > 0;
    }
}
