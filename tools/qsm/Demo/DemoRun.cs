using System.Diagnostics;
using System.Globalization;
using System.Net;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Demo;

// The course of the demo: three processes publish to each other, one is killed, and the others must have everything of each other.
internal sealed class DemoRun(Session session, double rate, TimeSpan phase, Action<string, IReadOnlyList<DemoProcess>> show)
{
    private const int NodeCount = 3;

    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan EndLimit = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan Refresh = TimeSpan.FromMilliseconds(100);

    private readonly List<DemoProcess> _nodes = [];
    // That it removes the killed node is no news here, and would go into the middle of the screen.
    private readonly ILoggerFactory _logs = session.IsVerbose ? session.Logs : NullLoggerFactory.Instance;
    private string _step = "";

    public async Task<DemoResult> RunAsync()
    {
        long begun = Stopwatch.GetTimestamp();
        // A cluster of its own, which no other node on this machine finds.
        session.Options.Cluster = $"demo {Guid.NewGuid():N}";
        var listen = new IPEndPoint(IPAddress.Loopback, 0);
        await using var service = await StandaloneService.StartAsync(listen, session.Options, stateFile: null, _logs);
        try
        {
            for (int number = 1; number <= NodeCount; number++)
            {
                _nodes.Add(DemoProcess.Start(number, service.LocalEndPoint, session.Options.Cluster, rate));
            }

            string? trouble = await PlayAsync();
            var killed = _nodes[^1];
            return new DemoResult(
                trouble is null,
                Math.Round(Stopwatch.GetElapsedTime(begun).TotalSeconds, 1),
                _nodes.Sum(static node => node.Status.Published),
                _nodes.Sum(static node => node.Status.Received.Values.Sum()),
                killed.Id,
                killed.Status.Published,
                trouble);
        }
        finally
        {
            _nodes.ForEach(static node => node.Dispose());
        }
    }

    // Null, or what went wrong.
    private async Task<string?> PlayAsync()
    {
        Begin($"Starting {NodeCount} nodes, each in a process of its own");
        if (!await UntilAsync(static node => node.Status.Subscribers == NodeCount, _nodes, StartLimit))
        {
            return await WhyAsync($"The nodes did not find each other within {StartLimit.TotalSeconds:0} s.");
        }

        Begin(string.Create(CultureInfo.InvariantCulture, $"Each node publishes {rate:0} messages a second to all three"));
        _nodes.ForEach(static node => node.Say(DemoNode.Publish));
        if (!await UntilAsync(static node => node.Status.Received.Values.Sum() > 0, _nodes, StartLimit))
        {
            return await WhyAsync("Messages did not arrive.");
        }

        await ForAsync(phase);
        var killed = _nodes[^1];
        killed.Kill();
        Begin($"Killed node {killed.Number} (process {killed.Id}) as a crash would; nodes 1 and 2 continue");
        await ForAsync(phase);

        var survivors = _nodes[..^1];
        Begin("Nodes 1 and 2 publish no more, and wait until all of them have everything");
        survivors.ForEach(static node => node.Say(DemoNode.Stop));
        bool isComplete = await UntilAsync(
            node => node.Status.IsDrained && survivors.TrueForAll(
                sender => node.Status.Received.GetValueOrDefault(sender.Status.Node) == sender.Status.Published),
            survivors,
            EndLimit);
        if (!isComplete)
        {
            return await WhyAsync("Nodes 1 and 2 did not get all messages of each other.");
        }

        long faults = survivors.Sum(node => survivors.Sum(sender => node.Status.Faults.GetValueOrDefault(sender.Status.Node)));
        return faults == 0
            ? null
            : $"{Counted.Of(faults, "message")} {(faults == 1 ? "was" : "were")} lost, came twice or came out of order.";
    }

    private void Begin(string step)
    {
        _step = step;
        show(step, _nodes);
    }

    private async Task ForAsync(TimeSpan length)
    {
        long begun = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(begun) < length)
        {
            await Task.Delay(Refresh, session.Interrupted);
            show(_step, _nodes);
        }
    }

    private async Task<bool> UntilAsync(Func<DemoProcess, bool> condition, List<DemoProcess> nodes, TimeSpan limit)
    {
        long begun = Stopwatch.GetTimestamp();
        while (!nodes.TrueForAll(node => condition(node)))
        {
            if (Stopwatch.GetElapsedTime(begun) > limit || nodes.Exists(static node => node.HasEnded))
            {
                return false;
            }

            await Task.Delay(Refresh, session.Interrupted);
            show(_step, _nodes);
        }

        show(_step, _nodes);
        return true;
    }

    private async Task<string> WhyAsync(string what)
    {
        foreach (var node in _nodes.Where(static node => node.HasEnded && !node.IsKilled))
        {
            return $"{what} Node {node.Number} ended: {await node.ErrorsAsync()}";
        }

        return what;
    }
}
