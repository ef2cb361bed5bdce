using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Tests.Dispatch;

namespace QuickSilver.Multicast.Tests.Hybrid;

// When a member reports that it does not hear the address of a topic.
public sealed class TopicHearingTests
{
    private static readonly RegionView View = new()
    {
        RegionId = DispatchBench.Region,
        Number = DispatchBench.View,
        Configuration = 1,
        Group = null,
        Members = [DispatchBench.Self, DispatchBench.Sender],
    };

    private readonly DispatchBench _bench = new();
    private readonly TopicHearing _hearing;

    public TopicHearingTests() => _hearing = new TopicHearing(_bench.Context);

    [Fact]
    public void Sixteen_repairs_over_some_time_are_reported_and_fewer_or_quicker_ones_are_not()
    {
        Miss(topic: 1, packets: 15, apartMs: 20);
        Assert.Empty(Told());
        Miss(topic: 1, packets: 1, apartMs: 0);
        Assert.Equal([1UL], Told());

        Miss(topic: 2, packets: 100, apartMs: 0);
        Assert.Empty(Told());
    }

    [Fact]
    public void Any_packet_over_the_address_begins_the_count_again()
    {
        for (int i = 0; i < 10; i++)
        {
            Miss(topic: 1, packets: 15, apartMs: 50);
            _hearing.OnHeard(View.RegionId, Packet(1));
        }

        Assert.Empty(Told());
    }

    [Fact]
    public void Three_repairs_of_a_slow_topic_over_two_seconds_are_reported()
    {
        Miss(topic: 1, packets: 2, apartMs: 1_000);
        Assert.Empty(Told());
        Miss(topic: 1, packets: 1, apartMs: 0);
        Assert.Equal([1UL], Told());

        Miss(topic: 2, packets: 15, apartMs: 100);
        Assert.Empty(Told());
    }

    [Fact]
    public void Misses_of_long_ago_do_not_count()
    {
        Miss(topic: 1, packets: 2, apartMs: 1_000);
        _bench.Environment.Advance(600_000);
        Miss(topic: 1, packets: 2, apartMs: 1_000);
        Assert.Empty(Told());
        Miss(topic: 1, packets: 1, apartMs: 0);
        Assert.Equal([1UL], Told());
    }

    [Fact]
    public void With_more_topics_than_can_be_counted_some_are_reported_and_then_the_others()
    {
        const int Topics = 3_000;
        var told = new HashSet<ulong>();
        for (int round = 0; round < 100; round++)
        {
            for (ulong topic = 1; topic <= Topics; topic++)
            {
                if (!told.Contains(topic))
                {
                    _hearing.OnMissed(View, Packet(topic));
                }
            }

            told.UnionWith(Told());
            _bench.Environment.Advance(20);
        }

        Assert.Equal(Topics, told.Count);
    }

    [Fact]
    public void Counts_that_do_not_continue_make_room_for_others_in_the_end()
    {
        for (ulong topic = 1; topic <= 3_000; topic++)
        {
            _hearing.OnMissed(View, Packet(topic));
        }

        _bench.Environment.Advance(TimeSpan.FromMinutes(11));
        Miss(topic: 5_000, packets: 16, apartMs: 20);
        Assert.Equal([5_000UL], Told());
    }

    private void Miss(ulong topic, int packets, double apartMs)
    {
        for (int i = 0; i < packets; i++)
        {
            _hearing.OnMissed(View, Packet(topic));
            _bench.Environment.Advance(apartMs);
        }
    }

    private List<ulong> Told() => _bench.Port.Take(PacketKind.Hearing).ConvertAll(packet =>
    {
        Assert.True(HearingNotice.TryRead(packet.Body, out var notice));
        Assert.Equal((HearingWord.MissesTopic, DispatchBench.Sender), (notice.Word, notice.Origin));
        return notice.Topic;
    });

    private static byte[] Packet(ulong topic)
    {
        byte[] packet = DispatchBench.Packet(PacketKind.Data, 1);
        MessageHeader.Write(packet.AsSpan(PacketHeader.Bytes), 10, MessageMarks.None, topic, 1);
        return packet;
    }
}
