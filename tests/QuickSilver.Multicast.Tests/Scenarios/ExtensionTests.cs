using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Scenarios;

// What a sender says of a message beside its payload comes with it, whichever way the message takes (I1, I3 under F1).
public sealed class ExtensionTests
{
    private const ulong Topic = 1;
    private const int Messages = 500;

    [Theory]
    [InlineData(0, true, 0.0)]
    [InlineData(100, true, 0.0)]
    [InlineData(100, true, 0.1)]
    [InlineData(5_000, true, 0.1)]
    [InlineData(100, false, 0.1)]
    [InlineData(5_000, false, 0.02)]
    public void Extensions_come_with_their_message(int bytes, bool reliable, double loss)
    {
        var cluster = Publishing(new LinkModel { Loss = loss }, reliable, stamps: true);
        cluster[0].PublishAll(Topic, Messages, bytes);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));

        Assert.InRange(cluster[1].Log.Count, reliable ? Messages : Messages / 4, Messages);
        Assert.Equal(cluster[1].Log.Select(one => (uint?)one.Hash), cluster[1].Stamped);
    }

    [Theory]
    [InlineData(100)]
    [InlineData(5_000)]
    public void Extensions_come_with_a_message_that_waited_for_its_reader(int bytes)
    {
        var cluster = Publishing(new LinkModel(), reliable: true, stamps: true, out var sink);
        sink.IsFull = true;
        cluster[0].PublishAll(Topic, Messages, bytes);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.True(cluster[1].Multicast.Context.Parking.Bytes > 0);

        sink.IsFull = false;
        cluster[1].Resume(Topic);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));

        Assert.Equal(Messages, cluster[1].Log.Count);
        Assert.Equal(cluster[1].Log.Select(one => (uint?)one.Hash), cluster[1].Stamped);
    }

    [Fact]
    public void A_message_without_extensions_has_none()
    {
        var cluster = Publishing(new LinkModel(), reliable: true, stamps: false);
        cluster[0].PublishAll(Topic, Messages, 1_000);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));

        Assert.Equal(Messages, cluster[1].Stamped.Count);
        Assert.All(cluster[1].Stamped, stamp => Assert.Null(stamp));
    }

    [Fact]
    public void In_the_smallest_packets_the_largest_extensions_have_room_beside_the_largest_start_table()
    {
        int beside = StartTable.MaxBytes + 1 + MessageExtensions.MostBytes;

        Assert.True(PacketHeader.Bytes + MessageHeader.Bytes + beside <= MulticastOptions.MinPacketBytes);
    }

    private static MulticastCluster Publishing(LinkModel link, bool reliable, bool stamps) => Publishing(link, reliable, stamps, out _);

    private static MulticastCluster Publishing(LinkModel link, bool reliable, bool stamps, out Host.Sink sink)
    {
        var cluster = new MulticastCluster(3, 3, link);
        cluster[0].Stamps = stamps;
        cluster[0].Publishes(Topic, reliable);
        sink = cluster[1].Subscribes(Topic, reliable);
        cluster[2].Subscribes(Topic, reliable);
        cluster.Commit();
        return cluster;
    }
}
