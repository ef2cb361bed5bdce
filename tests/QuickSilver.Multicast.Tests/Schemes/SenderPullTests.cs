using QuickSilver.Core.Alarms;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Repair;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Schemes;

// A scheme as simple as can be: what is missing is asked of the sender, all of it each time.
public sealed class SenderPullTests : SchemeContract
{
    internal override MulticastOptions Options => new() { ClusterId = 7, Repair = new SenderPull() };

    [Fact]
    public void Only_the_sender_is_asked_and_its_part_hears_of_each_packet_once_and_in_order()
    {
        var scheme = new SenderPull();
        var cluster = new MulticastCluster(6, 4, new LinkModel { Loss = 0.1 }, Options with { Repair = scheme });
        cluster[0].Publishes(1);
        foreach (var host in cluster.Hosts.Skip(1))
        {
            host.Subscribes(1);
        }

        cluster.Commit();
        cluster[0].PublishAll(1, 2_000, 500);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count == 2_000)));
        Assert.True(scheme.Asked > 0);
        Assert.All(cluster.Hosts.Skip(1), host => Assert.Equal(0, host.Multicast.Counters.RepairsSent));
        Assert.Equal(cluster[0].Multicast.Streams.Single().Last, scheme.SentThrough);
    }

    private sealed class SenderPull : IRepairScheme, ISentRepair
    {
        public long Asked { get; private set; }

        public long SentThrough { get; private set; }

        public IRepairStrategy ForReceiver(SchemeContext context, IViewOfMember view, IRepairedStream stream) =>
            new Puller(this, context.Node, view, stream);

        public ISentRepair ForSender(SchemeContext context, IStreamOfSender stream) => this;

        public void OnSent(long first, long last)
        {
            // Other senders of the cluster share the scheme: only where there is one do the numbers follow each other.
            SentThrough = first == SentThrough + 1 ? last : -1;
        }

        public void Close()
        {
        }

        private sealed class Puller : IRepairStrategy
        {
            private static readonly TimeSpan First = TimeSpan.FromMilliseconds(2);
            private static readonly TimeSpan Again = TimeSpan.FromMilliseconds(20);

            private readonly SenderPull _scheme;
            private readonly NodeContext _context;
            private readonly IViewOfMember _region;
            private readonly IRepairedStream _stream;
            private readonly Alarm _alarm;

            public Puller(SenderPull scheme, NodeContext context, IViewOfMember region, IRepairedStream stream)
            {
                (_scheme, _context, _region, _stream) = (scheme, context, region, stream);
                _alarm = new Alarm(Ask);
            }

            public bool NeedsNeighbourPush => _stream.IsSenderGone && _stream.Missing.Count > 0;

            public void OnMissing()
            {
                if (!_alarm.IsPending)
                {
                    _context.Environment.Schedule(_alarm, First);
                }
            }

            public void OnFilled(in PacketSlot missing)
            {
            }

            public void AskAnew() => OnMissing();

            public void Close() => _context.Environment.Cancel(_alarm);

            private void Ask()
            {
                if (_stream.Missing.Count == 0)
                {
                    return;
                }

                if (!_stream.IsSenderGone && _context.Directory.Find(_stream.Sender) is { } sender)
                {
                    var packet = new byte[PullRequest.MaxBytes];
                    var template = _region.Template.Of(_stream.Class.Value);
                    int bytes = PullRequest.Write(
                        packet, template, _stream.Sender, _stream.Highest, _stream.Missing, 0, SequenceRanges.MaxNumber);
                    _context.SendControl(packet.AsSpan(0, bytes), sender);
                    _scheme.Asked++;
                }

                _context.Environment.Schedule(_alarm, Again);
            }
        }
    }
}
