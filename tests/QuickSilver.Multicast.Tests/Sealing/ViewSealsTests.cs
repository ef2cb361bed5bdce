using QuickSilver.Core.Sealing;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Sealing;

namespace QuickSilver.Multicast.Tests.Sealing;

// The keys of a view's rest, when the cluster's keys come and come back (T6).
public sealed class ViewSealsTests
{
    [Fact]
    public void A_key_of_the_cluster_that_is_told_again_goes_on_where_it_was()
    {
        using var seals = Superseded();
        var first = SealUnder(seals, 2);
        SealUnder(seals, 3);
        Assert.Same(first, SealUnder(seals, 2));
        Assert.Equal(1U, first.Sealer.Steps);
    }

    [Fact]
    public void No_epoch_of_a_rest_begins_twice_when_its_key_comes_back_after_it_was_given_up()
    {
        using var seals = Superseded();
        var first = SealUnder(seals, 2);
        SealUnder(seals, 3);
        SealUnder(seals, 4);
        var again = SealUnder(seals, 2);
        Assert.NotSame(first, again);
        Assert.Equal(first.Key, again.Key);
        Assert.True(again.Sealer.Steps > first.Sealer.Steps);
    }

    private static ViewSeals Superseded() => new(1, KeyOf(1), new Sealer(5, 6), new NoLimit(), PacketSealer.DefaultPacketsPerEpoch);

    // As if it came from the service anew.
    private static KeySeal SealUnder(ViewSeals seals, byte number)
    {
        seals.Supersede(new ClusterKey(number, KeyOf(number)));
        var seal = seals.Current;
        byte[] packet = new byte[PacketHeader.Bytes];
        new PacketTemplate(1, 5, 6, 7, 8).Write(packet, PacketKind.Token, PacketFlags.None, 1, 0, 0);
        seal.Sealer.Seal(packet, packet.Length, new byte[packet.Length + SealedPacket.TrailerBytes]);
        return seal;
    }

    private static SecretKey KeyOf(byte number) => new(Enumerable.Repeat(number, SecretKey.Bytes).ToArray());

    private sealed class NoLimit : ISubkeyBudget
    {
        public bool TryTake() => true;

        public bool TryTakeOld() => true;
    }
}
