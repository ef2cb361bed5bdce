using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Experiments;

namespace QuickSilver.Multicast.Tests.Repair;

// I17 under F1: at full speed an answer waits in the answerer's card behind what it sends. What was asked for is not sent again
// while it is on its way, and what is lost on its way is.
public sealed class RepairCountTests
{
    private const ulong Topic = 1;
    private const int Messages = 10 << 10;
    private const int MessageBytes = 1 << 10;
    private const int Losses = 100;
    private const int Seeds = 20;
    private const double MostRepairsPerLoss = 1.5;
    private const long Gigabit = 125_000_000;

    // Of cards the machine's own, of links each receiver's; the simulator lets 20 ms and 50 ms of data wait there.
    [Theory]
    [InlineData(1, Gigabit, false)]
    [InlineData(1, 10 * Gigabit, false)]
    [InlineData(3, Gigabit, false)]
    [InlineData(1, Gigabit, true)]
    public void Ten_mebibytes_with_a_hundred_losses_take_at_most_three_repairs_for_two_losses(int subscribers, long rate, bool isOfLink)
    {
        for (ulong seed = 1; seed <= Seeds; seed++)
        {
            var run = new Run(seed, subscribers, isOfLink ? new LinkModel { BytesPerSecond = rate } : new LinkModel());
            foreach (var host in run.Cluster.Hosts)
            {
                host.Node.Model = host.Node.Model with { SendBytesPerSecond = isOfLink ? null : rate };
            }

            run.SendAll();

            Assert.Equal(Losses, run.Lost);
            Assert.True(run.RepairsPerLoss <= MostRepairsPerLoss, $"{run.RepairsPerLoss:0.00} with seed {seed}");
        }
    }

    // The second request comes while what was lost is still thought to be on its way.
    [Fact]
    public void An_answer_that_is_lost_behind_much_data_is_sent_again_soon()
    {
        for (ulong seed = 1; seed <= Seeds; seed++)
        {
            var run = new Run(seed, subscribers: 1, new LinkModel()) { LosesFirstAnswers = true };
            run.Cluster[0].Node.Model = run.Cluster[0].Node.Model with { SendBytesPerSecond = Gigabit };

            run.SendAll();

            // Each of two answers waits for the card's 20 ms, and the waits for them follow that.
            Assert.InRange(run.WorstMillis, 0, 150);
            Assert.True(run.RepairsPerLoss <= MostRepairsPerLoss, $"{run.RepairsPerLoss:0.00} with seed {seed}");
        }
    }

    private sealed class Run
    {
        private readonly HashSet<(int Receiver, long Number)> _toLose = [];
        private readonly HashSet<(int Receiver, long Number)> _answersToLose = [];
        private readonly RepairCollector _repairs = new();

        public Run(ulong seed, int subscribers, LinkModel link)
        {
            Cluster = new MulticastCluster(seed, subscribers + 1, link, poolBlocks: 4096);
            Cluster[0].Publishes(Topic);
            foreach (var host in Cluster.Hosts.Skip(1))
            {
                host.Subscribes(Topic);
                host.Multicast.RepairWatch = _repairs.Watch(() => Cluster.Simulation.Now);
            }

            Cluster.Commit();
            var random = new Random((int)seed);
            while (_toLose.Count < Losses)
            {
                _toLose.Add((Cluster[1 + random.Next(subscribers)].Node.Number, 1 + random.Next(Messages * MessageBytes / 1472)));
            }

            _answersToLose.UnionWith(_toLose);
            Cluster.Simulation.Network.Filter = Loses;
        }

        public MulticastCluster Cluster { get; }

        public bool LosesFirstAnswers { get; init; }

        public int Lost { get; private set; }

        public double RepairsPerLoss => Cluster.Hosts.Sum(host => host.Multicast.Counters.RepairsSent) / (double)Lost;

        public double WorstMillis => _repairs.WorstMillis;

        public void SendAll()
        {
            Cluster[0].PublishAll(Topic, Messages, MessageBytes);
            Assert.True(Cluster.RunUntil(() => Cluster.Hosts.Skip(1).All(host => host.Log.Count == Messages)));
            foreach (var host in Cluster.Hosts.Skip(1))
            {
                MulticastCluster.AssertRun(host, Cluster[0], Topic, 1, Messages);
            }
        }

        private bool Loses(SimulatedLink link, ReadOnlySpan<byte> datagram)
        {
            var header = new PacketHeader(datagram);
            var packet = (link.To.Number, header.Sequence);
            if (header.Kind != PacketKind.Data
                || !(_toLose.Remove(packet) || (LosesFirstAnswers && _answersToLose.Remove(packet))))
            {
                return false;
            }

            Lost++;
            return true;
        }
    }
}
