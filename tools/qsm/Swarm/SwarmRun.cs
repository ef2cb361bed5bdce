using System.Diagnostics;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Tool.Perf;
using QuickSilver.Tool.Perf.Senders;
using QuickSilver.Tool.Sessions;
using QuickSilver.Tool.Swarm.Records;

namespace QuickSilver.Tool.Swarm;

// One process's part of a swarm, from its nodes' start to the moment when all nodes of all processes have everything.
internal sealed class SwarmRun(Session session, SwarmPlan plan, RecordFile? records) : IAsyncDisposable
{
    // Enough to keep the service busy with batches, few enough not to starve what already runs.
    private const int StartingAtOnce = 8;

    private static readonly TimeSpan Glance = TimeSpan.FromMilliseconds(50);

    private readonly SwarmNode?[] _nodes = new SwarmNode?[plan.Nodes];
    private readonly ConfigurationCache _configurations = new();
    private readonly byte[] _payload = new byte[plan.PayloadBytes];

    private IEnumerable<SwarmNode> Nodes => _nodes.OfType<SwarmNode>();

    private long Delivered => Nodes.Sum(node => node.Topics.Sum(topic => topic.Delivered));

    public async Task<SwarmReport> RunAsync()
    {
        long begun = Stopwatch.GetTimestamp();
        await StartAsync();
        await AllReadyAsync();
        double openSeconds = Stopwatch.GetElapsedTime(begun).TotalSeconds;
        Terminal.Note("ready");
        var start = ProcessUsage.Now();
        await PublishAsync();
        bool complete = await AllDeliveredAsync();
        bool[] stable = await Task.WhenAll(Nodes.Select(node => node.DrainAsync(plan.Limit)));
        var end = ProcessUsage.Now();
        complete = complete && await EndTogetherAsync();
        records?.Close();
        return SwarmReport.Of(plan, [.. Nodes], start, end) with
        {
            Complete = complete,
            Stable = Array.TrueForAll(stable, one => one),
            OpenSeconds = Math.Round(openSeconds, 3),
        };
    }

    public async ValueTask DisposeAsync() => await Task.WhenAll(Nodes.Select(node => node.DisposeAsync().AsTask()));

    private Task StartAsync()
    {
        int[] publishers = plan.PublishersByTopic();
        var atOnce = new ParallelOptions { MaxDegreeOfParallelism = StartingAtOnce, CancellationToken = session.Interrupted };
        return Parallel.ForEachAsync(Enumerable.Range(0, plan.Nodes), atOnce, async (i, _) =>
        {
            int number = plan.First + i;
            _nodes[i] = await SwarmNode.StartAsync(session, plan, number, publishers, _configurations, records?.Node(number));
        });
    }

    private async Task AllReadyAsync()
    {
        try
        {
            await Task.WhenAll(Nodes.Select(node => node.AwaitReadyAsync(plan.Total, session.Interrupted)))
                .WaitAsync(plan.Limit, session.Interrupted);
        }
        catch (TimeoutException exception)
        {
            string sentence = $"timed out after {plan.Limit.TotalSeconds} s waiting until all {plan.Total} nodes are ready";
            throw new ToolException(ExitCode.Failed, sentence, exception);
        }
    }

    // The nodes take turns, each with its topics in turn, so that one loop holds the rate of all.
    private async Task PublishAsync()
    {
        var pace = new Pace(plan.Rate * plan.Nodes);
        var nodes = Nodes.ToArray();
        long turns = (long)Math.Round(plan.Rate * plan.Nodes * plan.Seconds);
        for (long turn = 0; turn < turns; turn++)
        {
            await pace.WaitForAsync(turn, session.Interrupted);
            var topics = nodes[(int)(turn % nodes.Length)].Topics;
            var topic = topics[(int)(turn / nodes.Length % topics.Count)];
            await topic.PublishAsync(_payload, Stopwatch.GetTimestamp(), session.Interrupted);
        }

        foreach (var topic in nodes.SelectMany(node => node.Topics))
        {
            await topic.EndAsync(_payload, session.Interrupted);
        }
    }

    // True when all is there; false when nothing more has come for the limit.
    private async Task<bool> AllDeliveredAsync()
    {
        long seen = -1;
        long sinceTicks = Stopwatch.GetTimestamp();
        while (!Nodes.All(node => node.Topics.All(topic => topic.IsDone)))
        {
            long delivered = Delivered;
            if (delivered != seen)
            {
                seen = delivered;
                sinceTicks = Stopwatch.GetTimestamp();
            }
            else if (Stopwatch.GetElapsedTime(sinceTicks) > plan.Limit)
            {
                return false;
            }

            await Task.Delay(Glance, session.Interrupted);
        }

        return true;
    }

    // No node leaves before all have what they are owed: those that stay longer may ask those that would leave for repair.
    private async Task<bool> EndTogetherAsync()
    {
        await Task.WhenAll(Nodes.Select(node => node.OpenBarrierAsync(session, SwarmPlan.Done)));
        long begun = Stopwatch.GetTimestamp();
        while (!Nodes.All(node => node.SeesEnd(plan.Total)))
        {
            if (Stopwatch.GetElapsedTime(begun) > plan.Limit)
            {
                Terminal.Error($"timed out after {plan.Limit.TotalSeconds} s waiting until all {plan.Total} nodes received all");
                return false;
            }

            await Task.Delay(Glance, session.Interrupted);
        }

        return true;
    }
}
