using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Dissemination;
using QuickSilver.Multicast.Hearing;
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

    private sealed class Chain : IDisseminationScheme
    {
        public long Sent { get; set; }

        public long Forwarded { get; set; }

        public IDisseminator ToSend(NodeContext context, SendingPorts ports, DeafMembers deaf, RegionView view) =>
            new Head(this, context, ports, view);

        public IForwarder ToForward(NodeContext context, RegionView view) => new Link(this, context, view);

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

        private sealed class Head(Chain chain, NodeContext context, SendingPorts ports, RegionView view) : IDisseminator
        {
            public int MaxRunSegments => ports.MaxRunSegments;

            public bool UsesGroup => false;

            public bool IsUnderWay => false;

            public int SpreadDatagrams => view.Members.Length;

            public SendOutcome Send(ReadOnlySpan<byte> run, int segmentBytes)
            {
                chain.Sent += (run.Length + segmentBytes - 1) / segmentBytes;
                return After(context, view, -1) is { } first
                    ? ports.Groups.Send(run, segmentBytes, first)
                    : SendOutcome.Sent;
            }

            public SendOutcome Spread(ReadOnlySpan<byte> packet)
            {
                foreach (var member in view.Members)
                {
                    if (context.Directory.Find(member) is { } address)
                    {
                        context.SendControl(packet, address);
                    }
                }

                return SendOutcome.Sent;
            }
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
