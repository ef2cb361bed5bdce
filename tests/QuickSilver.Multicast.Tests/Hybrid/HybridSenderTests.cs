using System.Net;
using System.Runtime.CompilerServices;
using QuickSilver.Core.Flow;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Hybrid;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Hybrid;

// When a run is sent to the address of its topic, and what keeps it from that: by calls, without members.
public sealed class HybridSenderTests
{
    private readonly Bench _bench = new();

    [Fact]
    public void A_run_lists_the_number_that_each_stream_gives_it()
    {
        _bench.Fill(1, packets: 3);
        _bench.Append();

        AssertLists(
            new SharedEntry(Bench.FirstRegion, 1, 2),
            new SharedEntry(Bench.FirstRegion + 1, 1, 5),
            new SharedEntry(Bench.FirstRegion + 2, 1, 2));
    }

    [Fact]
    public void A_run_waits_for_a_closed_window_and_then_goes_without_that_region()
    {
        _bench.Close(1);
        _bench.Append();
        _bench.Environment.Advance(9);
        Assert.Empty(_bench.Group.Take(PacketKind.Shared));

        _bench.Environment.Advance(2);
        AssertLists(new SharedEntry(Bench.FirstRegion, 1, 2), new SharedEntry(Bench.FirstRegion + 2, 1, 2));
    }

    [Fact]
    public void A_run_that_the_socket_had_no_room_for_waits_no_longer_for_a_window_that_closes_meanwhile()
    {
        _bench.Group.Outcome = SendOutcome.Busy;
        _bench.Append();
        _bench.Close(1);
        _bench.Group.Outcome = SendOutcome.Sent;

        _bench.Environment.Advance(20);
        AssertLists(new SharedEntry(Bench.FirstRegion, 1, 2), new SharedEntry(Bench.FirstRegion + 2, 1, 2));
    }

    [Fact]
    public void A_region_that_the_topic_left_is_not_remembered_as_late()
    {
        _bench.Close(1);
        _bench.Append();
        _bench.Environment.Advance(11);
        Assert.Single(_bench.Group.Take(PacketKind.Shared));

        _bench.RouteWithout(1);
        _bench.RouteToAll();
        _bench.Append();

        Assert.Empty(_bench.Group.Take(PacketKind.Shared));
    }

    [Fact]
    public void A_topic_that_sends_nothing_more_keeps_no_stream_that_it_sent_into()
    {
        _bench.Append();
        Assert.Single(_bench.Group.Take(PacketKind.Shared));

        var streams = _bench.EndStreams();
        GC.Collect();

        Assert.All(streams, stream => Assert.False(stream.TryGetTarget(out _)));
        GC.KeepAlive(_bench);
    }

    private void AssertLists(params SharedEntry[] entries)
    {
        var packet = Assert.Single(_bench.Group.Take(PacketKind.Shared)).Bytes;
        Assert.True(SharedPacket.TryReadList(packet, out var list));
        Assert.Equal(entries, Enumerable.Range(0, list.Used).Select(i => SharedPacket.EntryAt(packet, list, i)));
    }

    // A topic with streams into three regions, of two members each.
    private sealed class Bench : IHybridTopic
    {
        public const ulong FirstRegion = 20;
        private const int Regions = 3;
        private const int MembersOfRegion = 2;
        private static readonly IPEndPoint Address = new(IPAddress.Parse("239.2.0.1"), 25_001);

        private readonly HybridSender _sender;
        private RegionSender[] _streams;
        private long _next = 1;

        public Bench()
        {
            var self = new NodeKey(1, 1);
            var context = new MulticastContext(Environment, Options, new RecordingMembership(self))
            {
                ControlPort = new RecordingPort(),
                OnSenderProgress = static () => { },
                OnWait = static () => { },
            };
            context.Sending.GroupPort = Group;
            context.Sending.Deaf = new DeafMembers(context, Group, static _ => null);
            var members = Enumerable.Range(2, Regions * MembersOfRegion).Select(id => new NodeKey((ulong)id, 1)).ToArray();
            context.Directory.Apply(
                new ConfigurationChange
                {
                    Number = 1,
                    IsSnapshot = true,
                    Joined = [.. members.Prepend(self).Select((key, i) => new NodeInfo(key, LoneMember.EndPointOf(key), i + 1))],
                },
                self);
            _streams = [.. Enumerable.Range(0, Regions).Select(region => new RegionSender(
                context.Sending,
                new RegionView
                {
                    RegionId = FirstRegion + (ulong)region,
                    Number = 1,
                    Configuration = 1,
                    Group = new IPEndPoint(IPAddress.Parse("239.1.0.1"), 20_001 + region),
                    Members = [.. members.Skip(region * MembersOfRegion).Take(MembersOfRegion)],
                },
                StreamClass.Reliable,
                new RecordingPath { UsesGroup = true }))];
            _sender = new HybridSender(context.Sending, this);
            _sender.Route(_streams, Address, since: 1);
            Environment.Advance(Options.ReconfigurationPause);
            // A topic's first message in a view goes the ordinary way, and opens the stream.
            for (int region = 0; region < Regions; region++)
            {
                Fill(region, packets: 1);
            }
        }

        public HandDrivenEnvironment Environment { get; } = new();

        public RecordingPort Group { get; } = new();

        private MulticastOptions Options { get; } = new() { ClusterId = LoneMember.Cluster };

        ulong IHybridTopic.TopicId => 5;

        StreamClass IHybridTopic.Class => StreamClass.Reliable;

        long IHybridTopic.Settled => 1;

        bool IHybridTopic.HasBegunIn(RegionSender route) => true;

        void IHybridTopic.AwaitProgress(IFeed feed)
        {
        }

        public void RouteToAll() => _sender.Route(_streams, Address, since: 1);

        public void RouteWithout(int region) => _sender.Route([.. _streams.Where((_, i) => i != region)], Address, since: 1);

        /// <summary>The views are over, and the topic has no others yet.</summary>
        [MethodImpl(MethodImplOptions.NoInlining)]
        public WeakReference<RegionSender>[] EndStreams()
        {
            _sender.Route([], Address, since: 1);
            WeakReference<RegionSender>[] ended = [.. _streams.Select(stream => new WeakReference<RegionSender>(stream))];
            Array.ForEach(_streams, static stream => stream.Close("the view is over"));
            _streams = [];
            return ended;
        }

        /// <summary>A message, and the end of the turn.</summary>
        public void Append()
        {
            _sender.Append(_next++, [], new byte[100], claim: null);
            Environment.EndTurn();
        }

        /// <summary>Another topic sends so many packets into one region.</summary>
        public void Fill(int region, int packets)
        {
            var payload = new byte[Options.PacketBytes - PacketHeader.Bytes - MessageHeader.Bytes];
            for (int i = 0; i < packets; i++)
            {
                _streams[region].Append(6, i + 1, null, [], payload, null);
            }

            _streams[region].FlushSoon();
            Environment.EndTurn();
        }

        /// <summary>Another topic sends as much into one region as its window allows: nothing waits, and nothing more may go.</summary>
        public void Close(int region) => Fill(region, _streams[region].WindowPackets - 1);
    }
}
