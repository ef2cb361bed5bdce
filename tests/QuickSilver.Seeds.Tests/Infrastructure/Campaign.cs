using System.Diagnostics;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Seeds.Tests.Infrastructure;

// What every campaign does with a seed: play it, say which it was and how long it took, and when an invariant broke, say
// all that is needed to see it again.
internal abstract class Campaign(string name, ITestOutputHelper? output)
{
    // Every so often a seed is played twice, and must leave the same trace (I20).
    private const ulong TwiceEvery = 10;

    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan CompletionLimit = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan UnknownViewAge = TimeSpan.FromSeconds(5);
    // When all is received, a reader that was slow says some times more that it is not.
    private static readonly TimeSpan LastCredits = TimeSpan.FromMilliseconds(500);

    /// <summary>What besides the seed must be set to see the same run again.</summary>
    protected virtual string SettingsOf(ulong seed) => "";

    /// <summary>What the seed means for the run, to be shown with a failure.</summary>
    protected abstract string Describe(ulong seed);

    /// <summary>Plays the seed to its end; throws when an invariant broke. Returns the cluster's trace hash.</summary>
    protected abstract RunResult Play(ulong seed, RecordTail tail);

    public void Check(ulong seed) => Check(seed, isTwice: seed % TwiceEvery == 0);

    /// <summary>Plays a seed that once failed, for what it found: once.</summary>
    public void CheckPinned(ulong seed) => Check(seed, isTwice: false);

    /// <summary>Requires that all come to one end: in one cluster, with everything received, settled and given back.</summary>
    protected static void RequireEnd(WholeCluster cluster, string when, TimeSpan orderLimit)
    {
        cluster.RequireOne(orderLimit, Step, when);
        cluster.RunUntil(() => cluster.History.IsComplete, CompletionLimit, Step);
        cluster.RequireQuiet(CompletionLimit + cluster.LeastTimeToSend(), Step);
        // Packets of views that never became known are kept for a while, and some come again of views that an earlier life knew.
        bool isReplayed = cluster.Setup.Hardships.HasFlag(Hardships.Replay);
        cluster.Run(LastCredits + UnknownViewAge + (isReplayed ? SimulatedLink.LongestReplay : TimeSpan.Zero));
        cluster.ReadMemory(quiet: true);
        cluster.RequireAllSent();
    }

    /// <summary>Has the checkers judge what is so now, while faults stand.</summary>
    protected static void RequireHolds(WholeCluster cluster)
    {
        cluster.Look();
        cluster.ReadMemory(quiet: false);
        // What is broken already breaks more, and says less.
        if (cluster.History.ViolationCount > 0)
        {
            string nodes = string.Join('\n', cluster.Nodes.Select(static node => $"{node.Machine}: {node.Wants()}"));
            throw new InvariantException($"{string.Join('\n', cluster.History.Violations)}\n{nodes}");
        }
    }

    private void Check(ulong seed, bool isTwice)
    {
        long begun = Stopwatch.GetTimestamp();
        string? path = Environment.GetEnvironmentVariable("QS_RECORDS");
        using var all = path is null ? null : new StreamWriter(path);
        var tail = new RecordTail(all);
        try
        {
            var result = Play(seed, tail);
            double millis = Stopwatch.GetElapsedTime(begun).TotalMilliseconds;
            Say($"{name} seed {seed}: {result} in {millis:F0} ms");
            if (isTwice)
            {
                using var allAgain = path is null ? null : new StreamWriter(path + ".again");
                var again = Play(seed, new RecordTail(allAgain));
                if (again.Trace != result.Trace)
                {
                    throw new InvariantException($"I20: the seed left the trace {result.Trace:x16}, and played again {again.Trace:x16}.");
                }
            }
        }
        catch (Exception exception) when (exception is InvariantException or SimulationException or AggregateException)
        {
            string message = $"""
                Campaign {name}, seed {seed} (commit {SeedChoice.Commit() ?? "unknown"}): {exception.Message}
                Again: {Again(seed)}
                QS_RECORDS=<file> with it writes all records and what the nodes log.
                The last records before the first violation, or before the end:
                {tail}
                The run: {Describe(seed)}
                {(exception is InvariantException ? "" : exception)}
                """;
            Console.WriteLine(message);
            throw new InvariantException(message);
        }
    }

    private string Again(ulong seed)
    {
        string which = $"{SettingsOf(seed)} QS_SEEDS=1 QS_FIRST_SEED={seed}".TrimStart();
        return $"{which} dotnet test --project tests/QuickSilver.Seeds.Tests -c Release --filter-class \"*.{name}Campaign\"";
    }

    private void Say(string line)
    {
        output?.WriteLine(line);
        Console.WriteLine(line);
    }
}

internal readonly record struct RunResult(ulong Trace, long Events, long Published, long Delivered, RepairTotals Repairs, long Shared)
{
    public override string ToString() =>
        $"{Published} published, {Delivered} delivered, {Events} events, {Repairs.Disturbances} datagrams disturbed, "
        + $"{Repairs.Requests} requests, {Repairs.Retransmissions} repairs, {Shared} packets shared, trace {Trace:x16}";
}
