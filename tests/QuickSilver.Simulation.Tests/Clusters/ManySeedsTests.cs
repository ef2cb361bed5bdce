namespace QuickSilver.Simulation.Tests.Clusters;

// A run of many seeds reports the first that fails, with all that is needed to see it again.
public sealed class ManySeedsTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private static readonly SimulationOptions Options = new()
    {
        Nodes = 3,
        Seed = 40,
        Faults = new FaultPlan { Kinds = FaultKinds.Loss, Until = TimeSpan.FromSeconds(1) },
    };

    [Fact]
    public void All_seeds_are_played_and_the_first_one_twice()
    {
        var played = new List<ulong>();
        Simulate.ManySeeds(5, Options, cluster => played.Add(cluster.Options.Seed));
        Assert.Equal([40, 40, 41, 42, 43, 44], played);
    }

    [Fact]
    public void The_first_failing_seed_is_reported_with_its_replay_command()
    {
        var thrown = Assert.Throws<SimulationException>(() => Simulate.ManySeeds(5, Options, cluster =>
        {
            cluster.Start();
            cluster.RunFaults();
            Assert.NotEqual(42UL, cluster.Options.Seed);
        }));
        Assert.Equal(42UL, thrown.Seed);
        Assert.Equal(
            "QS_SEEDS=1 QS_FIRST_SEED=42 dotnet test --filter "
            + $"\"FullyQualifiedName~{nameof(The_first_failing_seed_is_reported_with_its_replay_command)}\"",
            thrown.Replay);
        Assert.Contains(thrown.Replay!, thrown.Message, StringComparison.Ordinal);
        Assert.Contains("Faults:", thrown.Message, StringComparison.Ordinal);
        Assert.Contains("healed", thrown.Message, StringComparison.Ordinal);
        Assert.IsAssignableFrom<Xunit.Sdk.XunitException>(thrown.InnerException);
    }

    [Fact]
    public void A_failure_names_the_faults_before_it_alone()
    {
        var thrown = Assert.Throws<SimulationException>(() => Simulate.ManySeeds(1, Options, static cluster =>
        {
            cluster.Start();
            var schedule = new FaultSchedule()
                .At(TimeSpan.Zero, "the first", static _ => { })
                .At(TimeSpan.FromMilliseconds(10), "the second", static _ => throw new InvalidOperationException("the failure"))
                .At(TimeSpan.FromMilliseconds(20), "the third", static _ => { });
            cluster.RunFaults(schedule);
        }));
        Assert.Contains("the first", thrown.Message, StringComparison.Ordinal);
        Assert.Contains("the second", thrown.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("the third", thrown.Message, StringComparison.Ordinal);
        Assert.Contains("1 more were planned, and did not happen.", thrown.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Invariants_are_checked_after_every_event()
    {
        TimeSpan due = default;
        var thrown = Assert.Throws<SimulationException>(() => Simulate.ManySeeds(1, Options, cluster =>
        {
            cluster.Start();
            bool holds = true;
            due = cluster.Now + (Second / 7);
            cluster.After(Second / 7, () => holds = false);
            cluster.Always("it is so", () => holds);
            cluster.Run(Second);
        }));
        Assert.Contains($"The invariant failed at {due}", thrown.Message, StringComparison.Ordinal);
        Assert.Contains("it is so", thrown.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_condition_that_never_becomes_true_is_reported()
    {
        var thrown = Assert.Throws<SimulationException>(() => Simulate.ManySeeds(1, Options, cluster =>
        {
            cluster.Start();
            cluster.Eventually("pigs fly", () => false, Second);
        }));
        Assert.Contains("after 00:00:01 waiting until pigs fly", thrown.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Code_that_depends_on_more_than_the_seed_is_found()
    {
        int calls = 0;
        var thrown = Assert.Throws<SimulationException>(() => Simulate.ManySeeds(1, Options, cluster =>
        {
            cluster.Start(node => Task.Delay(TimeSpan.FromMilliseconds(++calls), node.Time));
            cluster.Run(Second);
        }));
        Assert.Contains("two different runs", thrown.Message, StringComparison.Ordinal);
    }
}
