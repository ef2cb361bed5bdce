using System.Globalization;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Checkers;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Seeds.Tests.Stops;

// One run of campaign "Stops". Each publisher has a node and a topic of its own, to which all subscribers subscribe before it begins.
internal sealed class StopRun(ulong seed)
{
    private const int MostPublishers = 3;
    private const int MostSubscribers = 4;
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan OpenLimit = Second * 60;
    private static readonly TimeSpan LeaveLimit = Second * 10;
    private static readonly TimeSpan EndLimit = Second * 600;

    private readonly AccountingChecker _accounts = new();

    /// <summary>Throws if an invariant broke. Returns what happened, in a line.</summary>
    public string Check()
    {
        var draws = new Random((int)(seed ^ (seed >> 32)));
        int publishing = draws.Next(1, MostPublishers + 1);
        int subscribing = draws.Next(1, MostSubscribers + 1);
        using var cluster = new SimulatedCluster(new SimulationOptions
        {
            Nodes = publishing + subscribing,
            Seed = seed,
            Link = LinkOf(seed),
            // The seeds that are kept were found without.
            TopicDelay = TimeSpan.Zero,
            Membership = MembershipPlacement.Dedicated,
        });
        var history = new History(_accounts);
        var watch = new StopHistory(history, () => cluster.Now);
        cluster.Start();
        var publishers = Enumerable.Range(0, publishing).Select(number => new StopPublisher(cluster.Nodes[number], draws, watch)).ToList();
        var subscribers = new List<StopSubscriber>();
        for (int number = publishing; number < cluster.Nodes.Count; number++)
        {
            foreach (var publisher in publishers)
            {
                subscribers.Add(new StopSubscriber(cluster.Nodes[number], publisher.Topic, draws, watch));
            }
        }

        cluster.RunUntilCompleted(() => Task.WhenAll(subscribers.Select(static one => one.OpenAsync())), OpenLimit);
        cluster.RunUntilCompleted(() => Task.WhenAll(publishers.Select(one => one.OpenAsync(subscribing))), OpenLimit);
        publishers.ForEach(static one => one.Begin());
        // A node that ends takes its subscribers with it.
        subscribers.ForEach(one => one.EndLater(subscribers));
        cluster.Eventually("all publishers have ended", () => publishers.TrueForAll(static one => one.HasEnded), EndLimit);
        cluster.Eventually("all ends are complete", () => subscribers.TrueForAll(static one => !one.IsEnding || one.HasEnded), EndLimit);
        // What is missing then, OnEnd names.
        cluster.RunUntil(() => history.IsComplete, Second * 120);
        // A topic is left within this time, and what came for a subscriber that had ended is counted then.
        cluster.Run(LeaveLimit);
        foreach (var node in cluster.Nodes.Skip(publishing))
        {
            watch.Count(node.Number, node.Node.GetCounters());
        }

        try
        {
            history.AssertHolds();
        }
        catch (InvariantException exception)
        {
            string who = string.Join('\n', [.. publishers, .. subscribers]);
            throw new InvariantException($"Campaign Stops, seed {seed}: {exception.Message}\n{who}");
        }

        long accepted = publishers.Sum(static one => one.Accepted);
        long dropped = publishers.Sum(static one => one.Dropped);
        long unacknowledged = publishers.Sum(static one => one.Unacknowledged);
        return string.Create(
            CultureInfo.InvariantCulture,
            $"Stops seed {seed}: {accepted} accepted, {dropped} dropped, {unacknowledged} unacknowledged, "
            + $"{history.DeliveredCount} handled, {history.GapCount} gaps, trace {cluster.TraceHash:x16}");
    }

    private static LinkModel LinkOf(ulong seed) => new()
    {
        Jitter = (seed % 3) switch { 0 => TimeSpan.Zero, 1 => TimeSpan.FromMilliseconds(0.2), _ => TimeSpan.FromMilliseconds(3) },
        Loss = (seed / 3 % 3) switch { 0 => 0, 1 => 0.005, _ => 0.05 },
    };
}
