using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Simulation.Disks;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Tests;

public sealed class FaultScheduleTests
{
    private static readonly TimeSpan HealedAt = TimeSpan.FromSeconds(10);

    private static readonly Dictionary<FaultKinds, string> Ids = new()
    {
        [FaultKinds.Loss] = "F1",
        [FaultKinds.Reordering] = "F2",
        [FaultKinds.Partition] = "F3",
        [FaultKinds.Crash] = "F4",
        [FaultKinds.Pause] = "F6",
        [FaultKinds.MemoryShortage] = "F13",
        [FaultKinds.Restart] = "F5",
        [FaultKinds.Slowness] = "F7",
        [FaultKinds.Clock] = "F8",
        [FaultKinds.BlackHole] = "F11",
        [FaultKinds.MulticastLoss] = "F12",
        [FaultKinds.Membership] = "F14",
        [FaultKinds.RepairDeafness] = "F15",
        [FaultKinds.StrangerPackets] = "F17",
        [FaultKinds.DeadDatagrams] = "F19",
        [FaultKinds.Replay] = "F18",
        [FaultKinds.Interface] = "F25",
        [FaultKinds.DiskFull] = "F9",
        [FaultKinds.DiskErrors] = "F9",
        [FaultKinds.DiskReadOnly] = "F9",
        [FaultKinds.DiskSlowness] = "F29",
        [FaultKinds.DiskAbsence] = "F29",
        [FaultKinds.DiskRot] = "F29",
        [FaultKinds.LostSyncs] = "F29",
    };

    private static readonly FaultKinds All = Enum.GetValues<FaultKinds>().Aggregate(static (all, kind) => all | kind);

    // In what ways a cluster can be broken. A clock may be set each time, and never run wrong.
    private static readonly string[] Everything =
    [
        "link", "silence", "partition", "down", "paused", "node", "slow", "held up", "deaf", "foreign", "dead", "replayed", "offline",
        "disk full", "disk fails", "disk read-only", "disk slow", "disk away", "disk lies",
    ];

    [Fact]
    public void Actions_happen_at_their_times_counted_from_the_start()
    {
        var cluster = new SimulatedMachines(1);
        var node = cluster.AddNode();
        cluster.Run(TimeSpan.FromSeconds(1));
        new FaultSchedule()
            .Add(TimeSpan.FromSeconds(3), "F8", "clock back", c => c.Nodes[0].ClockStep = TimeSpan.FromHours(-1))
            .Add(TimeSpan.FromSeconds(2), "F6", "pause", c => c.Nodes[0].Pause())
            .HealAt(TimeSpan.FromSeconds(4))
            .Start(cluster);
        cluster.Run(TimeSpan.FromSeconds(2));
        Assert.True(node.IsPaused);
        Assert.Equal(TimeSpan.Zero, node.ClockStep);
        cluster.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(TimeSpan.FromHours(-1), node.ClockStep);
        cluster.Run(TimeSpan.FromSeconds(1));
        Assert.False(node.IsPaused);
    }

    [Fact]
    public void One_seed_draws_one_schedule_and_another_seed_another()
    {
        Assert.Equal(Draw(4).ToString(), Draw(4).ToString());
        Assert.NotEqual(Draw(4).ToString(), Draw(5).ToString());
    }

    [Fact]
    public void A_schedule_contains_the_faults_asked_for_and_no_others()
    {
        foreach (var (kind, fault) in Ids)
        {
            Assert.Equal([fault, "all"], Draw(9, kind).Actions.Select(action => action.Fault).Distinct());
        }

        Assert.Equal(Ids.Values.Append("all").Distinct().Order(), Draw(9).Actions.Select(action => action.Fault).Distinct().Order());
    }

    [Fact]
    public void Every_drawn_schedule_breaks_something_and_leaves_everything_whole()
    {
        Prop.ForAll<ulong>(seed =>
        {
            var cluster = new SimulatedMachines(seed);
            cluster.AddNodes(6);
            Draw(seed).Start(cluster);
            var broken = new HashSet<string>();
            for (int i = 0; i < 1000; i++)
            {
                cluster.Run(TimeSpan.FromMilliseconds(10));
                broken.UnionWith(Broken(cluster));
            }

            cluster.Run(TimeSpan.FromMilliseconds(10));
            // In ten seconds each kind has several episodes; burst and uniform loss may be drawn in any mixture.
            return !Broken(cluster).Any() && Everything.All(broken.Contains);
        }).Check(Config.QuickThrowOnFailure.WithMaxTest(30));
    }

    [Fact]
    public void Faults_stay_within_the_bounds_of_their_plan()
    {
        Prop.ForAll<ulong>(seed =>
        {
            var pauses = Draw(seed, FaultKinds.Pause).Actions;
            var partitions = Draw(seed, FaultKinds.Partition).Actions.Where(action => action.Fault == "F3").ToArray();
            return pauses.All(action => action.At <= HealedAt)
                && partitions.Length % 2 == 0
                && partitions.Chunk(2).All(pair => pair[1].At - pair[0].At <= TimeSpan.FromSeconds(2) && pair[1].At <= HealedAt);
        }).QuickCheckThrowOnFailure();
    }

    [Fact]
    public void A_bridge_reaches_both_sides_of_a_partition_and_is_none_of_those_that_are_cut_off()
    {
        int bridged = 0;
        for (ulong seed = 1; seed <= 30; seed++)
        {
            var cluster = new SimulatedMachines(seed);
            cluster.AddNodes(5);
            var plan = new FaultPlan { Kinds = FaultKinds.Partition, BridgeShare = 1, Until = HealedAt };
            FaultSchedule.Draw(plan, seed, nodes: 5).Start(cluster);
            for (int i = 0; i < 100; i++)
            {
                cluster.Run(TimeSpan.FromMilliseconds(100));
                var whole = cluster.Nodes.Where(one => cluster.Nodes.All(other => IsOpen(one, other) && IsOpen(other, one))).ToList();
                if (whole.Count < 5)
                {
                    bridged++;
                    Assert.Single(whole);
                }
            }

            bool IsOpen(SimulatedMachine from, SimulatedMachine to) => !cluster.Network.Link(from.Number, to.Number).IsBlocked;
        }

        Assert.True(bridged > 100, $"{bridged}");
    }

    [Fact]
    public void Invalid_plans_are_refused_with_the_option_and_the_range()
    {
        static void Refused(FaultPlan plan, string expected)
        {
            var options = new SimulationOptions { Nodes = 2, Faults = plan };
            int started = 0;
            var drawn = Assert.Throws<ArgumentException>(() => FaultSchedule.Draw(plan, 1, nodes: 2));
            var run = Assert.Throws<ArgumentException>(() => Simulate.ManySeeds(1, options, _ => started++));
            Assert.All([drawn, run], one => Assert.Contains(expected, one.Message, StringComparison.Ordinal));
            Assert.Equal(0, started);
        }

        Refused(new FaultPlan { Kinds = FaultKinds.Crash, Crashable = [] }, "allows no node to crash");
        Refused(new FaultPlan { Kinds = FaultKinds.Pause, Nodes = [] }, "allows them for no node");
        Refused(new FaultPlan { From = HealedAt, Until = HealedAt / 2 }, "FaultPlan.From is 00:00:10 and Until is 00:00:05");
        Refused(new FaultPlan { Until = TimeSpan.FromSeconds(-1) }, "Until is -00:00:01");
        Refused(new FaultPlan { Nodes = [-1] }, "FaultPlan.Nodes has -1. The number of a node is not negative.");
        Refused(new FaultPlan { Kinds = (FaultKinds)(1 << 30) }, "FaultPlan.Kinds has 1073741824, which is no kind of fault");
    }

    // The membership service has the number behind the nodes, where it has a machine.
    [Theory]
    [InlineData(MembershipPlacement.Dedicated, 2)]
    [InlineData(MembershipPlacement.Embedded, 1)]
    public void A_plan_of_a_cluster_names_only_its_machines(MembershipPlacement placement, int last)
    {
        static void Play(MembershipPlacement placement, int number) => Simulate.ManySeeds(
            1,
            new SimulationOptions { Nodes = 2, Membership = placement, Faults = new FaultPlan { Crashable = [number] } },
            static _ => { });

        Play(placement, last);
        var thrown = Assert.Throws<ArgumentException>(() => Play(placement, last + 1));
        Assert.StartsWith($"FaultPlan.Crashable has {last + 1}. The nodes are 0 to {last}.", thrown.Message, StringComparison.Ordinal);
    }

    private static IEnumerable<string> Broken(SimulatedMachines cluster)
    {
        var (model, healthy) = (cluster.Network.Model, cluster.Network.Baseline);
        if (model.LargestDatagramBytes is not null || model.MulticastOff)
        {
            yield return "silence";
        }

        if (model with { LargestDatagramBytes = null, MulticastOff = false } != healthy)
        {
            yield return "link";
        }

        if (cluster.Nodes.Any(one => cluster.Nodes.Any(other => cluster.Network.Link(one.Number, other.Number).IsBlocked)))
        {
            yield return "partition";
        }

        foreach (var node in cluster.Nodes)
        {
            if (!node.IsUp)
            {
                yield return "down";
            }

            if (node.IsPaused)
            {
                yield return "paused";
            }

            if (node.Model.InboundLoss > 0 || node.Model.SendBusyProbability > 0 || node.Model.ReceiveBufferLimitBytes is not null)
            {
                yield return "node";
            }

            if (node.Faults.Slowness > TimeSpan.Zero)
            {
                yield return "slow";
            }

            if (node.Faults.OutboundHold > TimeSpan.Zero)
            {
                yield return "held up";
            }

            if (node.Faults.IsDeafToRepair || node.Faults.IsOutOfGroups)
            {
                yield return "deaf";
            }

            if (node.Faults.ForeignProbability > 0)
            {
                yield return "foreign";
            }

            if (node.Faults.HearsNoDatagrams || node.Faults.SendsNoDatagrams)
            {
                yield return "dead";
            }

            if (node.Faults.ReplayProbability > 0 || node.Faults.CorruptProbability > 0)
            {
                yield return "replayed";
            }

            if (node.Faults.IsOffline)
            {
                yield return "offline";
            }

            foreach (string what in BrokenDisk(cluster.FindDisk(node)?.Model ?? new DiskModel()))
            {
                yield return what;
            }

            if (node.Clock.Rate != 1)
            {
                yield return "clock";
            }
        }
    }

    private static IEnumerable<string> BrokenDisk(DiskModel model)
    {
        (bool Is, string What)[] all =
        [
            (model.CapacityBytes is not null, "disk full"),
            (model.WriteErrors + model.SyncErrors + model.ReadErrors + model.LostSectors > 0, "disk fails"),
            (model.IsReadOnly, "disk read-only"),
            (model.Delay > TimeSpan.Zero, "disk slow"),
            (model.IsAway, "disk away"),
            (model.LosesSyncs, "disk lies"),
        ];
        return all.Where(static one => one.Is).Select(static one => one.What);
    }

    // A seed of a plan that says no more than this is one run, in this version and in all others.
    [Fact]
    public void The_common_faults_are_always_the_same() => Assert.Equal(
        FaultKinds.Loss | FaultKinds.Reordering | FaultKinds.Partition | FaultKinds.Crash | FaultKinds.Pause | FaultKinds.MemoryShortage,
        FaultKinds.Common);

    [Fact]
    public void Healing_undoes_what_faults_changed_in_a_model_and_keeps_the_rest()
    {
        using var cluster = new SimulatedCluster(nodes: 1, seed: 1);
        var own = new NodeModel { CostPerEvent = TimeSpan.FromTicks(1), CoalesceProbability = 1 };
        cluster.Nodes[0].Model = own with { InboundLoss = 0.5, SendBusyProbability = 0.5, ReceiveBufferLimitBytes = 1 };
        cluster.Heal();
        Assert.Equal(own, cluster.Nodes[0].Model);
    }

    [Fact]
    public void A_plan_that_names_no_nodes_means_all_of_them()
    {
        var all = new FaultPlan { Kinds = FaultKinds.Pause, Until = HealedAt };
        Assert.Equal(
            FaultSchedule.Draw(all with { Nodes = [0, 1, 2] }, 5, nodes: 3).ToString(), FaultSchedule.Draw(all, 5, nodes: 3).ToString());
    }

    [Fact]
    public void A_kind_has_the_same_course_whatever_other_kinds_are_asked_for()
    {
        static IEnumerable<string> Pauses(FaultKinds kinds) =>
            Draw(3, kinds).Actions.Where(action => action.Fault == "F6").Select(action => action.ToString());

        Assert.Equal(Pauses(FaultKinds.Pause), Pauses(FaultKinds.Pause | FaultKinds.Loss));
    }

    private static FaultSchedule Draw(ulong seed, FaultKinds? kinds = null) =>
        FaultSchedule.Draw(
            new FaultPlan { Kinds = kinds ?? All, Nodes = [1, 2, 3, 4, 5], Crashable = [4, 5], Until = HealedAt }, seed, nodes: 6);
}
