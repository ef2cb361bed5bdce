using QuickSilver;

namespace ChurnNode;

// Opens and closes topics at random moments, and keeps what was wrong with any of them.
internal sealed class Visits(QuickSilverNode node, int topics, double perSecond, int seed)
{
    private readonly Dictionary<int, Endpoint> _open = [];

    public int Changes { get; private set; }

    public List<string> Faults { get; } = [];

    public async Task RunAsync(CancellationToken enough)
    {
        var random = new Random(seed);
        while (true)
        {
            var pause = TimeSpan.FromSeconds(-Math.Log(1 - random.NextDouble()) / perSecond);
            await Task.Delay(pause, enough).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (enough.IsCancellationRequested)
            {
                break;
            }

            int topic = random.Next(topics);
            if (_open.Remove(topic, out var known))
            {
                await CloseAsync(known);
            }
            else
            {
                _open[topic] = await Endpoint.OpenAsync(node, topic, isKept: false);
            }

            Changes++;
        }

        foreach (var endpoint in _open.Values)
        {
            await CloseAsync(endpoint);
        }
    }

    private async Task CloseAsync(Endpoint endpoint)
    {
        await endpoint.CloseAsync();
        if (endpoint.Report() is { Fault: { } fault } report)
        {
            Faults.Add($"topic {report.Topic}: {fault}");
        }
    }
}
