using System.Buffers.Binary;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering.Holding;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Schemes;

// An order as simple as can be that looks at more than one sender: a message goes up after all that its sender had received when it sent
// it. Each carries how far its sender had come with each other, as in Birman, Schiper and Stephenson's causal broadcast.
public sealed class CausalOrderTests : SchemeContract
{
    private const ulong Topic = 1;

    internal override MulticastOptions Options => new() { ClusterId = 7 };

    internal override void Prepare(MulticastCluster cluster)
    {
        foreach (var host in cluster.Hosts)
        {
            var causes = new Causes();
            host.OrderStamp = causes.Stamp;
            host.Gate = () => causes;
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_reply_never_comes_before_what_it_replies_to_in_a_causal_order_alone(bool causal)
    {
        int early = 0;
        for (ulong seed = 1; seed <= 20; seed++)
        {
            var cluster = new MulticastCluster(seed, 4, new LinkModel { Loss = 0.2, Jitter = TimeSpan.FromMilliseconds(2) }, Options);
            if (causal)
            {
                Prepare(cluster);
            }

            int[] owed = new int[4];
            void Reply(int number)
            {
                while (owed[number] > 0 && cluster[number].Publish(Topic, 100))
                {
                    owed[number]--;
                }
            }

            foreach (var host in cluster.Hosts)
            {
                host.Publishes(Topic);
                var sink = host.Subscribes(Topic);
                // Host 1 replies to host 0, and host 2 to host 1.
                int number = cluster.Hosts.ToList().IndexOf(host);
                sink.OnReceived = one =>
                {
                    if (number is 1 or 2 && one.Sender == cluster[number - 1].Key)
                    {
                        owed[number]++;
                        Reply(number);
                    }
                };
            }

            cluster.Commit();
            cluster[0].PublishAll(Topic, 200, 100);
            bool isAll = false;
            for (int i = 0; i < 100 && !isAll; i++)
            {
                isAll = cluster.RunUntil(() => cluster[3].Log.Count == 600, seconds: 0.1);
                cluster[1].OnCore(() => Reply(1));
                cluster[2].OnCore(() => Reply(2));
            }

            Assert.True(isAll, $"Seed {seed}: {cluster[3].Log.Count} of 600.");
            foreach (var one in cluster[3].Log.Select((message, place) => (message, place)))
            {
                int sender = cluster.Hosts.ToList().FindIndex(host => host.Key == one.message.Sender);
                if (sender > 0)
                {
                    var cause = (cluster[sender - 1].Key, one.message.Sequence);
                    early += cluster[3].Log.FindIndex(other => (other.Sender, other.Sequence) == cause) > one.place ? 1 : 0;
                }
            }
        }

        // Without it some come early: the faults are of the kind that the order is for.
        Assert.Equal(causal, early == 0);
    }

    // What throws above counts as delivered, so it keeps no message waiting.
    [Fact]
    public void A_reply_comes_although_the_sink_threw_at_what_it_replies_to()
    {
        var cluster = new MulticastCluster(1, 3, options: Options);
        Prepare(cluster);
        foreach (var host in cluster.Hosts)
        {
            host.Publishes(Topic);
            host.Subscribes(Topic);
        }

        cluster.Commit();
        cluster.Simulation.Network.Filter = (link, _) => link.From == cluster[0].Node && link.To == cluster[2].Node;
        cluster[0].PublishAll(Topic, 1, 100);
        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count == 1));
        bool throws = true;
        cluster[2].SinkOf(Topic).OnReceived = one =>
        {
            if (throws)
            {
                throws = false;
                throw new InvalidOperationException("As a handler may.");
            }
        };
        cluster.Simulation.Network.Filter = (link, packet) => link.To == cluster[2].Node
            && new PacketHeader(packet) is { Kind: PacketKind.Data } header && header.Sender == cluster[0].Key.Id;
        cluster[1].PublishAll(Topic, 1, 100);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.Empty(cluster[2].Log);

        cluster.Simulation.Network.Filter = null;
        Assert.True(cluster.RunUntil(() => cluster[2].Log.Count == 2, seconds: 5));
    }

    // How far this node has come with each sender.
    private sealed class Causes : IDeliveryGate
    {
        private const int EntryBytes = 20;
        private const int MostSenders = 6;

        private readonly SortedDictionary<NodeKey, long> _delivered = [];

        public bool MayPass(in DeliveredMessage message)
        {
            Assert.True(message.Extensions.TryFind(ExtensionKind.OrderStamp, out var stamp));
            for (; stamp.Length >= EntryBytes; stamp = stamp[EntryBytes..])
            {
                uint incarnation = BinaryPrimitives.ReadUInt32LittleEndian(stamp[8..]);
                var sender = new NodeKey(BinaryPrimitives.ReadUInt64LittleEndian(stamp), incarnation);
                if (sender != message.Sender && _delivered.GetValueOrDefault(sender) < BinaryPrimitives.ReadInt64LittleEndian(stamp[12..]))
                {
                    return false;
                }
            }

            return true;
        }

        public string WaitsFor => "the messages that they reply to";

        public void OnPassing(in DeliveredMessage message) => _delivered[message.Sender] = message.Sequence;

        public void OnRefused(in DeliveredMessage message) => _delivered[message.Sender] = message.Sequence - 1;

        public void OnGap(in TopicGap gap) => _delivered[gap.Sender] = gap.Last;

        public byte[] Stamp()
        {
            Assert.InRange(_delivered.Count, 0, MostSenders);
            byte[] whole = new byte[_delivered.Count * EntryBytes];
            var stamp = whole.AsSpan();
            int used = 0;
            foreach (var (sender, sequence) in _delivered)
            {
                BinaryPrimitives.WriteUInt64LittleEndian(stamp[used..], sender.Id);
                BinaryPrimitives.WriteUInt32LittleEndian(stamp[(used + 8)..], sender.Incarnation);
                BinaryPrimitives.WriteInt64LittleEndian(stamp[(used + 12)..], sequence);
                used += EntryBytes;
            }

            return whole;
        }
    }
}
