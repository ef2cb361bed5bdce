using QuickSilver.Simulation;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Seeds.Tests.Stops;

internal enum PublisherVerb
{
    // Until everything is stable, and then dispose.
    Drain,
    // For less than that takes.
    DrainShortly,
    Dispose,
    Cancel,
    DisposeNode,
    DrainNode,
}

// Publishes as fast as it may, and ends in one of the ways in which a publisher may end. Then its node ends.
internal sealed class StopPublisher
{
    private const int MostMessages = 20_000;
    private const int MostBytes = 40 << 20;
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(3);
    private static readonly TimeSpan Long = TimeSpan.FromMinutes(5);

    private readonly SimulatedNode _machine;
    private readonly QuickSilverNode _node;
    private readonly StopHistory _history;
    private readonly PublisherVerb _verb;
    private readonly int _messages;
    private readonly int _bytes;
    private readonly int _burst;
    private readonly TimeSpan _life;
    private ITopicPublisher<byte[]>? _publisher;
    private bool _isPublishing;

    public StopPublisher(SimulatedNode machine, Random draws, StopHistory history)
    {
        _machine = machine;
        _node = machine.Node;
        _history = history;
        Topic = $"topic/{machine.Number}";
        _verb = (PublisherVerb)draws.Next(Enum.GetValues<PublisherVerb>().Length);
        _bytes = draws.Next(4) switch { 0 => draws.Next(1, 100), 1 => draws.Next(100, 1400), 2 => draws.Next(1400, 5000), _ => 30_000 };
        // More than is on its way at once, most of the time: a slow reader makes the publisher wait.
        _messages = draws.Next(50, Math.Min(MostMessages, MostBytes / _bytes));
        _burst = draws.Next(1, 1000);
        _life = TimeSpan.FromMilliseconds(draws.Next(1, 3000));
    }

    public string Topic { get; }

    public long Accepted { get; private set; }

    public long Dropped { get; private set; }

    public long Unacknowledged { get; private set; }

    public bool HasEnded { get; private set; }

    public async Task OpenAsync(int subscribers)
    {
        _publisher = await _node.OpenPublisherAsync<byte[]>(Topic);
        await _publisher.WaitForSubscribersAsync(subscribers);
    }

    public void Begin()
    {
        _machine.Post(PublishAsync);
        _machine.Post(EndAsync);
        _machine.Post(WatchAsync);
    }

    public override string ToString() =>
        $"{_machine}: publisher of {Topic}, {_verb} after {_life.TotalMilliseconds} ms, {Accepted} of {_messages} messages of {_bytes} "
        + $"bytes, {Dropped} dropped, {Unacknowledged} unacknowledged";

    private async Task PublishAsync()
    {
        _isPublishing = true;
        try
        {
            byte[] payload = new byte[_bytes];
            for (int i = 1; i <= _messages; i++)
            {
                await _publisher!.PublishAsync(payload);
                Accepted++;
                if (i % _burst == 0)
                {
                    await Task.Delay(TimeSpan.FromMilliseconds(1), _machine.Time);
                }
            }
        }
        catch (Exception exception) when (exception is ObjectDisposedException or InvalidOperationException or OperationCanceledException)
        {
            // The end came first.
        }

        _isPublishing = false;
    }

    private async Task EndAsync()
    {
        await Task.Delay(_life, _machine.Time);
        switch (_verb)
        {
            case PublisherVerb.Drain or PublisherVerb.DrainShortly:
                await DrainAsync(_verb == PublisherVerb.Drain ? Long : TimeSpan.FromMilliseconds(20));
                await _publisher!.DisposeAsync();
                break;
            case PublisherVerb.Dispose:
                await _publisher!.DisposeAsync();
                break;
            case PublisherVerb.Cancel:
                _publisher!.Cancel();
                await _publisher.DisposeAsync();
                break;
            case PublisherVerb.DrainNode:
                await DrainWithin.LimitAsync(Long, _node.DrainAsync, _machine.Time);
                break;
            default:
                break;
        }

        await _node.DisposeAsync();
        var counters = _node.GetCounters();
        Dropped = counters.PublishDrops;
        Unacknowledged = counters.Unacknowledged;
        _history.End(_node.Id, Topic, Accepted, counters);
        HasEnded = !_isPublishing && Dropped == _publisher!.Dropped
            ? true
            : throw new InvalidOperationException($"{this}, and the endpoint says {_publisher!.Dropped}; publishing: {_isPublishing}.");
    }

    // Whenever nothing waits for an acknowledgement, all that was sent is stable.
    private async Task WatchAsync()
    {
        while (!HasEnded)
        {
            await Task.Delay(Look, _machine.Time);
            if (!HasEnded && _node.GetGauges().PendingPackets == 0)
            {
                _history.Stable(_node.Id, Topic, _node.GetCounters().Published);
            }
        }
    }

    private async Task DrainAsync(TimeSpan limit)
    {
        if (await DrainWithin.LimitAsync(limit, _publisher!.DrainAsync, _machine.Time))
        {
            _history.Stable(_node.Id, Topic, Accepted);
        }
    }
}
