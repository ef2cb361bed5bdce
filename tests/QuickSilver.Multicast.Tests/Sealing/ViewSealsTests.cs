using QuickSilver.Core.Sealing;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Sealing;

namespace QuickSilver.Multicast.Tests.Sealing;

// The keys of a view's rest, when the cluster's keys come and come back (T6).
public sealed class ViewSealsTests
{
    [Fact]
    public void A_key_of_the_cluster_that_is_sent_again_continues_where_it_was()
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

    [Fact]
    public void Only_a_key_that_the_service_made_after_the_view_seals_its_rest()
    {
        using var seals = Of(configuration: 10);
        seals.Supersede(Cluster(9));
        Assert.Equal(KeyOf(1), seals.Current.Key);
        seals.OnClusterKey(Cluster(11), isOfAnother: false);
        Assert.Equal(KeyOf(1).OfRest(KeyOf(11)), seals.Current.Key);
        seals.OnClusterKey(Cluster(9), isOfAnother: false);
        Assert.Equal(KeyOf(1).OfRest(KeyOf(11)), seals.Current.Key);
    }

    // Members know the last two keys of the cluster only: one that continued under the key of the old service would be heard by none.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void The_key_of_another_service_seals_the_rest_whatever_its_number(bool isSupersededBefore)
    {
        using var seals = Of(configuration: 10);
        if (isSupersededBefore)
        {
            seals.Supersede(Cluster(11));
        }

        seals.OnClusterKey(Cluster(3), isOfAnother: true);
        seals.Supersede(Cluster(3));
        Assert.Equal(KeyOf(1).OfRest(KeyOf(3)), seals.Current.Key);
        // The next ones of the other service.
        seals.OnClusterKey(Cluster(4), isOfAnother: false);
        var last = seals.Current;
        Assert.Equal(KeyOf(1).OfRest(KeyOf(4)), last.Key);
        Assert.Same(last, seals.Current);
    }

    private static ViewSeals Superseded() => Of(configuration: 1);

    private static ViewSeals Of(long configuration) =>
        new(configuration, KeyOf(1), new Sealer(5, 6), new NoLimit(), PacketSealer.DefaultPacketsPerEpoch);

    private static ClusterKey Cluster(byte number) => new(number, KeyOf(number));

    // As if it came from the service again.
    private static KeySeal SealUnder(ViewSeals seals, byte number)
    {
        seals.Supersede(Cluster(number));
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
