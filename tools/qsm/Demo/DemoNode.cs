using System.Buffers.Binary;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Demo;

// One of the demo's processes: a node that publishes numbered messages and counts those of all nodes. Lines of its input say what it does
// ("publish", "stop"); lines of its output say how it is. It ends with its input, so that none is left behind.
internal sealed class DemoNode(Session session, int number, double rate)
{
    public const string Topic = "demo";
    public const string Publish = "publish";
    public const string Stop = "stop";

    private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan StatusInterval = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan DrainLimit = TimeSpan.FromSeconds(10);

    private readonly Lock _lock = new();
    private readonly Dictionary<string, long> _received = [];
    private readonly Dictionary<string, long> _faults = [];
    private long _published;
    private volatile bool _publishes;
    private volatile bool _stops;
    private volatile bool _isDrained;

    public async Task<int> RunAsync()
    {
        await using var node = await session.StartNodeAsync(application: $"demo-{number}");
        await using var topic = await session.OpenTopicAsync(node, Topic);
        using var end = CancellationTokenSource.CreateLinkedTokenSource(session.Interrupted);
        Task[] work = [ReadAsync(topic, end.Token), PublishAsync(topic, end.Token), ReportAsync(node, topic, end.Token)];
        var commands = ObeyAsync(end.Token);
        await Task.WhenAny([commands, .. work]);
        await end.CancelAsync();
        return ExitCode.Ok;
    }

    private async Task ObeyAsync(CancellationToken stop)
    {
        while (await Console.In.ReadLineAsync(stop) is { } line)
        {
            _publishes |= line == Publish;
            _stops |= line == Stop;
        }
    }

    private async Task ReadAsync(ITopic<ReadOnlyMemory<byte>> topic, CancellationToken stop)
    {
        var messages = topic.ReadAllAsync(gap => Fault(gap.Sender.ToString(), gap.Count), stop);
        await foreach (var message in messages)
        {
            string sender = message.Sender.ToString();
            long number = BinaryPrimitives.ReadInt64LittleEndian(message.Value.Span);
            lock (_lock)
            {
                long expected = _received.GetValueOrDefault(sender) + 1;
                if (number == expected)
                {
                    _received[sender] = number;
                    continue;
                }
            }

            Fault(sender, 1);
        }
    }

    private void Fault(string sender, long count)
    {
        lock (_lock)
        {
            _faults[sender] = _faults.GetValueOrDefault(sender) + count;
        }
    }

    private async Task PublishAsync(ITopic<ReadOnlyMemory<byte>> topic, CancellationToken stop)
    {
        using var timer = new PeriodicTimer(Tick);
        double due = 0;
        byte[] payload = new byte[sizeof(long)];
        while (!_stops && await timer.WaitForNextTickAsync(stop))
        {
            due += _publishes ? rate * Tick.TotalSeconds : 0;
            for (; due >= 1; due--)
            {
                BinaryPrimitives.WriteInt64LittleEndian(payload, _published + 1);
                await topic.PublishAsync(payload, stop);
                Interlocked.Increment(ref _published);
            }
        }

        _isDrained = await DrainWithin.LimitAsync(DrainLimit, topic.DrainAsync, stop);
        await Task.Delay(Timeout.Infinite, stop);
    }

    private async Task ReportAsync(QuickSilverNode node, ITopic<ReadOnlyMemory<byte>> topic, CancellationToken stop)
    {
        using var timer = new PeriodicTimer(StatusInterval);
        do
        {
            DemoStatus status;
            lock (_lock)
            {
                status = new DemoStatus(node.Id.ToString())
                {
                    Subscribers = topic.Subscribers,
                    Published = Interlocked.Read(ref _published),
                    IsDrained = _isDrained,
                    Received = new Dictionary<string, long>(_received),
                    Faults = new Dictionary<string, long>(_faults),
                };
            }

            Console.Out.WriteLine(status.ToJson());
        }
        while (await timer.WaitForNextTickAsync(stop));
    }
}
