using System.Buffers.Binary;
using System.Text.Json;
using QuickSilver;

namespace ChurnNode;

// Joins with a new node, receives a steady stream and visits topics, publishes, and leaves after a few seconds; again and again until a
// line comes in.
internal static class Roamer
{
    private const int PayloadBytes = 100;
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(20);

    public static async Task<int> RunAsync(QuickSilverOptions options, int stayers, int index)
    {
        var random = new Random(1000 + index);
        using var logs = NodeStart.Logs();
        // The console's own asynchronous read does not return before there is a line.
        var ended = Task.Run(Console.In.ReadLine);
        var faults = new List<string>();
        int lives = 0;
        int failures = 0;
        Console.Out.WriteLine("ready");
        while (!ended.IsCompleted)
        {
            try
            {
                var life = TimeSpan.FromSeconds(1.5 + (2 * random.NextDouble()));
                await LiveAsync(options, logs, stayers, random, ((long)index << 32) + ++lives, life, faults);
            }
            catch (Exception exception) when (exception is QuickSilverException or TimeoutException or OperationCanceledException)
            {
                // No server leads, perhaps; joining nodes try again.
                failures++;
                Console.Error.WriteLine($"life {lives} failed: {exception.Message}");
            }
        }

        var report = new RoamReport(lives, failures, faults);
        Console.Out.WriteLine("report " + JsonSerializer.Serialize(report, ReportJson.Default.RoamReport));
        return 0;
    }

    private static async Task LiveAsync(
        QuickSilverOptions options,
        Serilog.Extensions.Logging.SerilogLoggerFactory logs,
        int stayers,
        Random random,
        long life,
        TimeSpan length,
        List<string> faults)
    {
        await using var node = await QuickSilverNode.StartAsync(options, logs);
        var topic = await node.OpenPublisherAsync<ReadOnlyMemory<byte>>(Topics.Roaming);
        // The busiest stream comes to where it was not before.
        var steady = await node.OpenSubscriberAsync<ReadOnlyMemory<byte>>(Topics.Steady(0));
        var arrivals = new Arrivals(steady);
        using var over = new CancellationTokenSource(length);
        var visits = new Visits(node, stayers, perSecond: 1, random.Next());
        var visiting = visits.RunAsync(over.Token);
        byte[] payload = new byte[PayloadBytes];
        BinaryPrimitives.WriteInt64LittleEndian(payload.AsSpan(8), life);
        for (long number = 1; !over.IsCancellationRequested; number++)
        {
            BinaryPrimitives.WriteInt64LittleEndian(payload, number);
            await topic.PublishAsync(payload, CancellationToken.None);
            await Task.Delay(Interval, over.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        await visiting;
        await arrivals.CloseAsync();
        if (arrivals.Fault is { } fault)
        {
            faults.Add($"life {life & uint.MaxValue}: {fault}");
        }

        faults.AddRange(visits.Faults.Select(fault => $"life {life & uint.MaxValue}: {fault}"));
    }

    // From the first that came, each once and in order.
    private sealed class Arrivals
    {
        private readonly ITopicSubscriber<ReadOnlyMemory<byte>> _topic;
        private volatile bool _isClosed;
        private long _last;

        public Arrivals(ITopicSubscriber<ReadOnlyMemory<byte>> topic)
        {
            _topic = topic;
            topic.SubscribeInline(OnMessage, gap => Fault ??= GapFault.Of(gap, _isClosed));
        }

        public string? Fault { get; private set; }

        public ValueTask CloseAsync()
        {
            _isClosed = true;
            return _topic.DisposeAsync();
        }

        private void OnMessage(in Message<ReadOnlyMemory<byte>> message)
        {
            long number = BinaryPrimitives.ReadInt64LittleEndian(message.Value.Span);
            if (_last != 0 && number != _last + 1)
            {
                Fault ??= $"{number} came after {_last}";
            }

            _last = number;
        }
    }
}
