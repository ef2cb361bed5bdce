using System.Net;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Tests.Infrastructure;
using QuickSilver.Membership.Views;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Membership.Tests;

// I7, I10, I19, I20 under F1, F2, F3, F4 and F6, in the simulator: nodes with embedded membership that lose, are cut off,
// pause and crash (the host too) end in one cluster with the right views once it heals.
public sealed class SimulatedFaultTests
{
    private const int NodeCount = 6;
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(5)]
    [InlineData(6)]
    [InlineData(7)]
    [InlineData(8)]
    public void Random_faults_end_in_one_cluster_with_the_right_views(ulong seed)
    {
        var run = new Run(seed);
        run.Play();
        run.CheckConverged();
    }

    [Fact]
    public void The_same_seed_gives_the_same_trace()
    {
        static ulong Trace()
        {
            var run = new Run(42);
            run.Play();
            return run.Cluster.Trace.Value;
        }

        Assert.Equal(Trace(), Trace());
    }

    private sealed class Run
    {
        private readonly FakeNode[] _lives = new FakeNode[NodeCount];
        private readonly uint[] _incarnations = new uint[NodeCount];
        private readonly SortedSet<string>[] _open = [.. Enumerable.Range(0, NodeCount).Select(_ => new SortedSet<string>())];
        private readonly ulong _seed;

        public Run(ulong seed)
        {
            _seed = seed;
            Cluster = new SimulatedMachines(seed);
            foreach (var node in Cluster.AddNodes(NodeCount))
            {
                Begin(node);
            }

            Cluster.NodeStarted = Begin;
        }

        public SimulatedMachines Cluster { get; }

        public void Play()
        {
            int[] all = [.. Enumerable.Range(0, NodeCount)];
            const FaultKinds Kinds = FaultKinds.Common & ~FaultKinds.MemoryShortage;
            var plan = new FaultPlan { Kinds = Kinds, Nodes = all, Crashable = all, Until = Second * 30 };
            FaultSchedule.Draw(plan, _seed, Cluster.Nodes.Count).Start(Cluster);
            ulong dice = _seed;
            for (int step = 0; step < 300; step++)
            {
                dice = (dice * 6364136223846793005) + 1442695040888963407;
                Toggle((int)((dice >> 33) % NodeCount), $"topic {(dice >> 40) % 5}");
                Cluster.Run(Second / 10);
            }

            Cluster.Run(Second * 30);
        }

        public void CheckConverged()
        {
            Assert.Single(_lives, life => life.Client.HostedService is not null);
            Assert.All(_lives, life => Assert.Equal(_lives.Select(other => other.Key).Order(), life.Nodes.Keys.Order()));
            for (int i = 0; i < NodeCount; i++)
            {
                Assert.Equal(_open[i].Count, _lives[i].Topics.Count);
                foreach (string topic in _open[i])
                {
                    var life = _lives[i];
                    var subscribers = _lives.Where((_, other) => _open[other].Contains(topic)).Select(other => other.Key);
                    MembershipOracle.CheckTopic(life.View(topic), region => life.Regions[region], subscribers);
                }

                Assert.Equal(_lives[0].Changes[^1].Number, _lives[i].Changes[^1].Number);
                Assert.Equal(_lives[i].Changes[^1].Number, _lives[i].Settled);
            }
        }

        private void Toggle(int number, string topic)
        {
            // A paused or dead process opens nothing.
            if (!Cluster.Nodes[number].IsUp || Cluster.Nodes[number].IsPaused)
            {
                return;
            }

            if (_open[number].Remove(topic))
            {
                _lives[number].Close(topic);
            }
            else
            {
                _open[number].Add(topic);
                _lives[number].Subscribe(topic);
            }
        }

        // A life that was expelled, or that crashed, is followed by the next one, which opens what the last had open.
        private void Begin(SimulatedMachine node)
        {
            int number = node.Number;
            var options = new MembershipClientOptions
            {
                Self = new NodeKey((ulong)number + 1, ++_incarnations[number]),
                EndPoint = new IPEndPoint(node.Address, 5000),
            };
            var life = new FakeNode(node.Environment, options);
            life.WhenExpelled = () => node.Environment.Post(new Core.Requests.ActionRequest(() =>
            {
                life.Client.Dispose();
                Begin(node);
            }));
            _lives[number] = life;
            life.Client.Start();
            life.Subscribe([.. _open[number]]);
        }
    }
}
