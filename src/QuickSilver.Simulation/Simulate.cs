using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text;

namespace QuickSilver.Simulation;

/// <summary>Runs many seeds of a scenario in a unit test.</summary>
public static class Simulate
{
    private const string SeedsVariable = "QS_SEEDS";
    private const string FirstSeedVariable = "QS_FIRST_SEED";

    // Of a large cluster the report has those of the first nodes.
    private const int MostDeliveriesCharacters = 20_000;

    /// <summary>
    /// Runs a scenario with one seed after another, each on a new cluster, until one fails. The environment variables <c>QS_SEEDS</c> (the
    /// number of seeds) and <c>QS_FIRST_SEED</c> (the first seed) override the seeds. The first seed and the failing one are run twice, to
    /// verify that both runs are the same.
    /// </summary>
    /// <param name="seeds">The number of seeds, greater than 0. The first is that of <paramref name="options"/>.</param>
    /// <param name="options">The options of the simulation.</param>
    /// <param name="scenario">
    /// The scenario. It receives a cluster that is not started yet. An exception, such as that of an assertion, fails the seed.
    /// </param>
    /// <param name="test">
    /// The name of the test, for the command line that runs a seed again. The compiler provides the name of the calling method. If that is
    /// a method that several tests call, pass the name of the test.
    /// </param>
    /// <exception cref="SimulationException">
    /// A seed failed. The message contains the seed, the command line that runs it again, the failure, the faults that were drawn, and the
    /// last deliveries of each node.
    /// </exception>
    /// <exception cref="ArgumentException">The number of seeds is 0, or an option is invalid.</exception>
    public static void ManySeeds(
        int seeds, SimulationOptions options, Action<SimulatedCluster> scenario, [CallerMemberName] string test = "")
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(seeds);
        ArgumentNullException.ThrowIfNull(options);
        ArgumentNullException.ThrowIfNull(scenario);
        options.Check();
        ulong first = Number(FirstSeedVariable) ?? options.Seed;
        ulong count = Number(SeedsVariable) ?? (ulong)seeds;
        for (ulong i = 0; i < count; i++)
        {
            var seeded = options with { Seed = unchecked(first + i) };
            var outcome = Play(seeded, scenario);
            if (outcome.Failure is not null)
            {
                throw Report(outcome, Play(seeded, scenario), i + 1, count, test);
            }

            if (i == 0 && Play(seeded, scenario) is var again && (again.Trace != outcome.Trace || Escape(again) is not null))
            {
                throw Escape(again) is null ? Differs(outcome, again, test) : Report(outcome, again, 1, count, test);
            }
        }
    }

    private static Outcome Play(SimulationOptions options, Action<SimulatedCluster> scenario)
    {
        using var cluster = new SimulatedCluster(options);
        Exception? failure = null;
        try
        {
            scenario(cluster);
        }
        catch (Exception exception)
        {
            failure = exception;
        }

        return new Outcome(options.Seed, failure, cluster.TraceHash, cluster.Now)
        {
            Faults = cluster.Faults?.TakenUntil(cluster.Now),
            Deliveries = failure is null ? "" : DeliveriesOf(cluster),
        };
    }

    private static SimulationException Report(Outcome outcome, Outcome again, ulong number, ulong count, string test)
    {
        var escape = Escape(outcome) ?? Escape(again);
        if (escape is null && outcome.Trace != again.Trace)
        {
            return Differs(outcome, again, test);
        }

        string replay = Replay(outcome.Seed, test);
        string faults = outcome.Faults is { } drawn ? $"{Environment.NewLine}Faults:{Environment.NewLine}{drawn}" : "";
        string rest = faults + outcome.Deliveries;
        if (escape is not null)
        {
            return new SimulationException(
                $"Seed {outcome.Seed} fails ({number} of {count}): {escape.Message}{Environment.NewLine}Replay: {replay}", escape)
            {
                Seed = outcome.Seed,
                Time = outcome.At,
                Replay = replay,
            };
        }

        string message = $"""
            Seed {outcome.Seed} fails ({number} of {count}): {outcome.Failure!.Message}
            Replay: {replay}
            It ended at {outcome.At} of virtual time with the trace {outcome.Trace:x16}, and the same when it was played again.{rest}
            """;
        return new SimulationException(message, outcome.Failure) { Seed = outcome.Seed, Time = outcome.At, Replay = replay };
    }

    private static SimulationException? Escape(Outcome outcome) =>
        outcome.Failure is SimulationException { IsEscape: true } escape ? escape : null;

    private static SimulationException Differs(Outcome outcome, Outcome again, string test)
    {
        string replay = Replay(outcome.Seed, test);
        string message = $"""
            Seed {outcome.Seed} gave two different runs.
            It ended at {outcome.At} with the trace {outcome.Trace:x16}, and played again at {again.At} with {again.Trace:x16}.
            Code under simulation depends on something else than the seed: the wall clock, Random or Guid, a thread, static state, or
            the order of a hash table.
            Replay: {replay}
            """;
        var cause = outcome.Failure ?? again.Failure;
        return new SimulationException(message, cause) { Seed = outcome.Seed, Time = outcome.At, Replay = replay };
    }

    private static string Replay(ulong seed, string test) =>
        $"{SeedsVariable}=1 {FirstSeedVariable}={seed} dotnet test --filter \"FullyQualifiedName~{test}\"";

    private static ulong? Number(string variable) =>
        ulong.TryParse(Environment.GetEnvironmentVariable(variable), CultureInfo.InvariantCulture, out ulong number) ? number : null;

    private static string DeliveriesOf(SimulatedCluster cluster)
    {
        var text = new StringBuilder();
        foreach (var node in cluster.Nodes)
        {
            var lines = node.LastDeliveries;
            if (lines.Count > 0 && text.Length < MostDeliveriesCharacters)
            {
                text.AppendLine().Append(CultureInfo.InvariantCulture, $"Last deliveries to node {node.Number}:").AppendLine();
                text.AppendJoin(Environment.NewLine, lines);
            }
        }

        return text.ToString();
    }

    private sealed record Outcome(ulong Seed, Exception? Failure, ulong Trace, TimeSpan At)
    {
        public string? Faults { get; init; }

        public required string Deliveries { get; init; }
    }
}
