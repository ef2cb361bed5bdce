using QuickSilver.Core.Alarms;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Dissemination;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Schemes;

// An overlay as simple as can be: the sender sends to the first member that lives, and each member passes on to the next.
public sealed class ChainTests : SchemeContract
{
    internal override MulticastOptions Options => new() { ClusterId = 7, Unicast = true, Dissemination = new Chain() };

    [Fact]
    public void The_sender_sends_each_packet_once_and_members_pass_it_on()
    {
        var chain = new Chain();
        var cluster = new MulticastCluster(6, 5, new LinkModel(), Options with { Dissemination = chain });
        cluster[0].Publishes(1);
        foreach (var host in cluster.Hosts.Skip(1))
        {
            host.Subscribes(1);
        }

        cluster.Commit();
        cluster[0].PublishAll(1, 1_000, 500);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count == 1_000)));
        long packets = cluster[0].Multicast.Streams.Single().Last;
        Assert.Equal(packets, chain.Sent);
        Assert.Equal(packets * 3, chain.Forwarded);
        Assert.All(cluster.Hosts, host => Assert.Equal(0, host.Multicast.Counters.RepairsSent));
    }

    [Fact]
    public void A_scheme_is_chosen_for_each_region_and_a_chain_has_no_deaf_members()
    {
        var chain = new Chain();
        var regional = new RegionalDissemination(static view => view.Members.Length == 2 ? 1 : 0, GroupMulticast.Scheme, chain);
        var cluster = new MulticastCluster(7, 6, new LinkModel(), new MulticastOptions { ClusterId = 7, Dissemination = regional });
        cluster[0].Publishes(1);
        foreach (var host in cluster.Hosts.Skip(1))
        {
            host.Subscribes(1);
        }

        // Two of the five are a region of their own.
        cluster[1].Subscribes(2);
        cluster[2].Subscribes(2);
        cluster.Commit();
        cluster[0].PublishAll(1, 1_000, 500);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count == 1_000)));
        Assert.True(cluster.RunUntil(() => cluster[0].Multicast.Readings.UnackedBytes == 0));
        Assert.Equal([2, 3], cluster[0].Multicast.Streams.Select(static stream => stream.View.Members.Length).Order());
        Assert.True(chain.Sent > 0 && chain.Forwarded == chain.Sent, $"{chain.Sent} sent and {chain.Forwarded} forwarded");
        Assert.All(cluster.Hosts, host => Assert.Equal(0, host.Multicast.Counters.UnheardSenders + host.Multicast.Counters.DeafMembers));
        Assert.All(cluster.Hosts, host => Assert.Equal(0, host.Multicast.Counters.RepairsSent));
    }

    [Fact]
    public void A_path_without_room_is_asked_again_when_it_reports_room_and_keeps_what_it_sends_later()
    {
        var chain = new Chain { MostQueued = 4 };
        var cluster = new MulticastCluster(8, 5, new LinkModel(), Options with { Dissemination = chain });
        cluster[0].Publishes(1);
        foreach (var host in cluster.Hosts.Skip(1))
        {
            host.Subscribes(1);
        }

        cluster.Commit();
        cluster[0].PublishAll(1, 3_000, 500);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count == 3_000)));
        Assert.All(cluster.Hosts.Skip(1), host => MulticastCluster.AssertRun(host, cluster[0], 1, 1, 3_000));
        Assert.True(cluster[0].Multicast.Counters.BusySends > 0);
        Assert.True(chain.Resumed > 0);
        Assert.All(cluster.Hosts, host => Assert.Equal(0, host.Multicast.Counters.RepairsSent));

        foreach (var host in cluster.Hosts)
        {
            host.Multicast.Close();
        }

        Assert.Equal((chain.OpenedHeads, chain.OpenedNodes), (chain.ClosedHeads, chain.ClosedNodes));
    }

    private sealed class Chain : IDisseminationScheme
    {
        public long Sent { get; set; }

        public long Forwarded { get; set; }

        /// <summary>How many runs a sender queues, and sends one after the other; 0: it sends at once.</summary>
        public int MostQueued { get; init; }

        public int Resumed { get; set; }

        public int OpenedHeads { get; set; }

        public int ClosedHeads { get; set; }

        public int OpenedNodes { get; set; }

        public int ClosedNodes { get; set; }

        public INodeDissemination ForNode(IDisseminationParts parts)
        {
            OpenedNodes++;
            return new Node(this, parts);
        }

        // The first after this rank that was not removed.
        private static DatagramAddress? After(NodeContext context, RegionView view, int rank)
        {
            for (int i = rank + 1; i < view.Members.Length; i++)
            {
                if (context.Directory.Find(view.Members[i]) is { } address)
                {
                    return address;
                }
            }

            return null;
        }

        private sealed class Node(Chain chain, IDisseminationParts parts) : INodeDissemination
        {
            public bool SharesTopics => false;

            public bool MayUseGroup(RegionView view) => false;

            public IDisseminator ToSend(RegionView view)
            {
                chain.OpenedHeads++;
                return new Head(chain, parts, view);
            }

            public IForwarder ToForward(RegionView view) => new Link(chain, parts.Node, view);

            public void Close() => chain.ClosedNodes++;
        }

        private sealed class Head : IDisseminator
        {
            private static readonly TimeSpan Pause = TimeSpan.FromMicroseconds(100);

            private readonly Chain _chain;
            private readonly IDisseminationParts _parts;
            private readonly RegionView _view;
            private readonly Queue<(Lease Lease, int Offset, int Length, int Segment)> _queue = new();
            private readonly Alarm _next;

            public Head(Chain chain, IDisseminationParts parts, RegionView view)
            {
                (_chain, _parts, _view) = (chain, parts, view);
                _next = new Alarm(SendNext);
            }

            public int MaxRunSegments => _parts.Ports.MaxRunSegments;

            public bool UsesGroup => false;

            public bool IsUnderWay => false;

            public int SpreadDatagrams => _view.Members.Length;

            public Action? OnRoom { get; set; }

            public SendOutcome Send(in DataRun run)
            {
                if (_chain.MostQueued == 0)
                {
                    _chain.Sent += run.Packets;
                    return Send(run.Bytes, run.SegmentBytes);
                }

                if (_queue.Count == _chain.MostQueued)
                {
                    return SendOutcome.Busy;
                }

                _chain.Sent += run.Packets;
                var lease = run.Lease!;
                lease.AddClaim();
                _queue.Enqueue((lease, run.Offset, run.Bytes.Length, run.SegmentBytes));
                if (!_next.IsPending)
                {
                    _parts.Node.Environment.Schedule(_next, Pause);
                }

                return SendOutcome.Sent;
            }

            public SendOutcome Spread(ReadOnlySpan<byte> packet)
            {
                foreach (var member in _view.Members)
                {
                    if (_parts.Node.Directory.Find(member) is { } address)
                    {
                        _parts.Node.SendControl(packet, address);
                    }
                }

                return SendOutcome.Sent;
            }

            public void Close()
            {
                _chain.ClosedHeads++;
                _parts.Node.Environment.Cancel(_next);
                while (_queue.TryDequeue(out var run))
                {
                    run.Lease.Release();
                }
            }

            private void SendNext()
            {
                var (lease, offset, length, segment) = _queue.Dequeue();
                Send(lease.Span.Slice(offset, length), segment);
                lease.Release();
                if (_queue.Count > 0)
                {
                    _parts.Node.Environment.Schedule(_next, Pause);
                }

                _chain.Resumed++;
                OnRoom!();
            }

            private SendOutcome Send(ReadOnlySpan<byte> run, int segmentBytes) =>
                After(_parts.Node, _view, -1) is { } first ? _parts.Ports.Groups.Send(run, segmentBytes, first) : SendOutcome.Sent;
        }

        private sealed class Link(Chain chain, NodeContext context, RegionView view) : IForwarder
        {
            private readonly int _rank = view.Members.AsSpan().BinarySearch(context.Self);

            public void OnReceived(in PacketHeader header, ReadOnlySpan<byte> packet)
            {
                if (After(context, view, _rank) is { } next)
                {
                    context.SendControl(packet, next);
                    chain.Forwarded++;
                }
            }

            public void Close()
            {
            }
        }
    }
}
