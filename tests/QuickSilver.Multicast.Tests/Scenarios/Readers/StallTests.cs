using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Scenarios.Readers;

// Nothing waits for long without a notice: who waits, for whom and why (I21).
public sealed class StallTests
{
    private const ulong Topic = 1;

    [Fact]
    public void A_member_that_answers_nothing_is_what_its_sender_says_it_waits_for()
    {
        var cluster = Running();
        cluster.Simulation.Network.Filter = (link, _) => link.To == cluster[1].Node || link.From == cluster[1].Node;
        cluster[0].PublishAll(Topic, 10, 100);

        Assert.True(cluster.RunUntil(() => cluster[0].Multicast.Trouble is not null, seconds: 10));
        Assert.Contains($"waits for the acknowledgement of node {cluster[1].Key}", cluster[0].Multicast.Trouble);
        Assert.Contains("packet 1 of", cluster[0].Multicast.Trouble);
        Assert.InRange(cluster[0].Multicast.Counters.Stalls, 1, 4);

        cluster.Simulation.Network.Filter = null;
        Assert.True(cluster.RunUntil(() => cluster[0].Multicast.Trouble is null, seconds: 10));
        Assert.Equal(10, cluster[1].Log.Count);
    }

    [Fact]
    public void A_member_that_answers_nothing_is_named_while_the_sender_has_room_to_continue()
    {
        var cluster = Running();
        cluster.Simulation.Network.Filter = (link, _) => link.To == cluster[1].Node || link.From == cluster[1].Node;
        for (int i = 0; i < 60 && cluster[0].Multicast.Trouble is null; i++)
        {
            cluster[0].OnCore(() => cluster[0].Publish(Topic, 100));
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        }

        Assert.Contains("packet 1 of", cluster[0].Multicast.Trouble);
        cluster.Simulation.Network.Filter = null;
        Assert.True(cluster.RunUntil(() => cluster[0].Multicast.Trouble is null, seconds: 10));
    }

    [Fact]
    public void A_reader_that_does_not_read_is_named_on_both_sides()
    {
        var cluster = Running();
        var slow = cluster[1].Subscribes(2);
        cluster[0].Publishes(2);
        cluster.Commit();
        slow.IsFull = true;
        cluster[0].PublishAll(2, 1_000_000, 1_000);

        Assert.True(cluster.RunUntil(
            () => cluster[0].Multicast.Trouble is not null && cluster[1].Multicast.Trouble is not null, seconds: 6));
        Assert.Contains($"The publisher of topic 2 waits for a reader on node {cluster[1].Key}", cluster[0].Multicast.Trouble);
        Assert.Contains($"A reader of topic 2 on this node has no room for messages of node {cluster[0].Key}",
            cluster[1].Multicast.Trouble);

        slow.IsFull = false;
        cluster[1].Resume(2);
        Assert.True(cluster.RunUntil(
            () => cluster[0].Multicast.Trouble is null && cluster[1].Multicast.Trouble is null, seconds: 10));
    }

    [Fact]
    public void A_reader_of_the_publisher_s_own_node_is_named_as_one_of_this_node()
    {
        var cluster = Running();
        var slow = cluster[0].Subscribes(2);
        cluster[0].Publishes(2);
        cluster.Commit();
        slow.IsFull = true;
        cluster[0].PublishAll(2, 1_000_000, 1_000);

        Assert.True(cluster.RunUntil(() => cluster[0].Multicast.Troubles.Count == 2, seconds: 8));
        Assert.All(cluster[0].Multicast.Troubles, static trouble => Assert.Equal(TroubleKind.ReaderFull, trouble.Kind));
        Assert.Contains("The publisher of topic 2 waits for a reader on this node", cluster[0].Multicast.Trouble);
    }

    [Fact]
    public void A_publisher_that_knows_no_view_says_so()
    {
        var cluster = Running();
        cluster[0].OnCore(() => cluster[0].Publishes(7));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
        cluster[0].PublishAll(7, 1, 100);

        Assert.True(cluster.RunUntil(() => cluster[0].Multicast.Trouble is not null, seconds: 10));
        Assert.Contains("The publisher of topic 7 waits for the membership service to say who subscribes", cluster[0].Multicast.Trouble);
    }

    // Not much more loss than that, or acknowledgements may be missing for as long as the warning waits.
    [Fact]
    public void A_slow_but_steady_stream_is_no_stall()
    {
        var cluster = Running(new Simulation.LinkModel { Loss = 0.1, Delay = TimeSpan.FromMilliseconds(100) });
        cluster[0].PublishAll(Topic, 20_000, 1_000);

        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count == 20_000, seconds: 600));
        Assert.All(cluster.Hosts, host => Assert.Equal(0, host.Multicast.Counters.Stalls));
    }

    [Fact]
    public void Messages_that_nothing_can_bring_any_more_are_reported_as_a_gap_and_those_behind_them_come()
    {
        var cluster = Running();
        var numbers = new TopicNumbers();
        var sender = SenderOf(cluster, numbers);
        cluster[0].OnCore(() => Send(sender, 2));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        cluster[0].OnCore(() =>
        {
            numbers.Next += 3;
            Send(sender, 2);
        });

        Assert.True(cluster.RunUntil(() => cluster[1].Gaps.Count > 0, seconds: 6));
        Assert.Equal([new TopicGap(cluster[0].Key, 2, 3, 5, TopicGapReason.Unaccounted)], cluster[1].Gaps);
        Assert.Equal([1, 2, 6, 7], cluster[1].SequencesOf(cluster[0].Key, 2));
        Assert.Equal(3, cluster[1].Multicast.Counters.MessagesUnaccounted);
        Assert.Contains($"A subscription to topic 2 waits for message 3 of node {cluster[0].Key}", cluster[1].Multicast.Trouble);
        Assert.True(cluster.RunUntil(() => cluster[1].Multicast.Trouble is null, seconds: 2));
    }

    [Fact]
    public void A_message_whose_packet_is_missing_is_waited_for_however_long_its_repair_takes()
    {
        var cluster = Running();
        int data = 0;
        cluster.Simulation.Network.Filter = (link, datagram) => link.To == cluster[1].Node && new PacketHeader(datagram) is var header
            && header.Kind == PacketKind.Data && (++data == 2 || (header.Flags & PacketFlags.Repair) != 0);
        for (int i = 0; i < 5; i++)
        {
            cluster[0].OnCore(() => cluster[0].Publish(Topic, 100));
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        }

        cluster.Simulation.Run(TimeSpan.FromSeconds(15));
        Assert.Equal([1], cluster[1].SequencesOf(cluster[0].Key, Topic));
        Assert.Contains($"waits for packet 2 of node {cluster[0].Key}", cluster[1].Multicast.Trouble);

        cluster.Simulation.Network.Filter = null;
        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count == 5, seconds: 10));
        Assert.Empty(cluster[1].Gaps);
        Assert.Equal(0, cluster[1].Multicast.Counters.MessagesUnaccounted);
    }

    // To a topic of its own, in the streams of its node.
    private static TopicSender SenderOf(MulticastCluster cluster, TopicNumbers numbers)
    {
        cluster[0].Publishes(2);
        cluster[1].Subscribes(2);
        cluster.Commit();
        var sender = new TopicSender(new ChannelSpec(2), numbers, cluster[0].Multicast.Topics);
        cluster[0].OnCore(() => sender.Apply(cluster[0].Multicast.ViewOf(2)!));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
        return sender;
    }

    private static void Send(TopicSender sender, int messages)
    {
        for (int i = 0; i < messages; i++)
        {
            Assert.True(sender.TrySend(new byte[100], observer: null) > 0);
        }
    }

    private static MulticastCluster Running(Simulation.LinkModel? link = null)
    {
        var cluster = new MulticastCluster(3, 3, link);
        cluster[0].Publishes(Topic);
        cluster[1].Subscribes(Topic);
        cluster[2].Subscribes(Topic);
        cluster.Commit();
        return cluster;
    }
}
