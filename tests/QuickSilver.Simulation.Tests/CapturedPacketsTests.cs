using QuickSilver.Core.Sealing;
using QuickSilver.Core.Wire;
using QuickSilver.Simulation.Machines;
using QuickSilver.Simulation.Network;

namespace QuickSilver.Simulation.Tests;

// F18, T5: of what a stranger makes of recorded packets, those that have the key take only what was sealed with it.
public sealed class CapturedPacketsTests
{
    private static readonly SecretKey Key = new("the key that all nodes were given"u8[..SecretKey.Bytes]);

    [Fact]
    public void Of_forgeries_only_those_that_are_as_they_were_recorded_are_opened()
    {
        using var one = new PacketSealer(Key, new Sealer(1, 1), PacketSealer.DefaultPacketsPerEpoch);
        using var other = new PacketSealer(Key, new Sealer(2, 1), PacketSealer.DefaultPacketsPerEpoch);
        using var opener = new PacketOpener(Key, new NoLimit());
        var captures = new CapturedPackets();
        var random = SeededRandom.Derive(seed: 1, purpose: 1, owner: 0);
        var genuine = new HashSet<string>();
        var refused = new Dictionary<DropReason, int>();
        int replayed = 0;
        for (int i = 0; i < 2000; i++)
        {
            byte[] packet = Seal(i % 2 == 0 ? one : other, i % 2 == 0 ? 1UL : 2UL);
            genuine.Add(Convert.ToHexString(packet));
            byte[] forged = captures.Forge(packet, random);
            string text = Convert.ToHexString(forged);
            var reason = SealedPacket.Validate(forged, cluster: 7);
            reason = reason == DropReason.None ? opener.Open(forged, SealedPacket.SealerOf(forged)) : reason;
            refused[reason] = refused.GetValueOrDefault(reason) + 1;
            replayed += genuine.Contains(text) ? 1 : 0;
            Assert.True(reason != DropReason.None || genuine.Contains(text));
        }

        Assert.InRange(replayed, 100, 1500);
        Assert.True(refused.GetValueOrDefault(DropReason.NotAuthentic) > 100);
    }

    private static byte[] Seal(PacketSealer sealer, ulong sender)
    {
        byte[] plain = new byte[PacketHeader.Bytes + 20];
        new PacketTemplate(cluster: 7, sender, incarnation: 1, region: 3, view: 4).Write(plain, PacketKind.Data, PacketFlags.None, 5, 0, 0);
        PacketTemplate.Seal(plain);
        byte[] packet = new byte[plain.Length + SealedPacket.TrailerBytes];
        sealer.Seal(plain, plain.Length, packet);
        return packet;
    }

    private sealed class NoLimit : ISubkeyBudget
    {
        public bool TryTake() => true;

        public bool TryTakeOld() => true;
    }
}
