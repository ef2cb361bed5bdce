using QuickSilver.Simulation;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Seeds.Tests.Stops;

internal enum SubscriberKind
{
    Consumer,
    ConcurrentConsumer,
    Reader,
    Handler,
}

internal enum SubscriberVerb
{
    Stay,
    Stop,
    DisposeConsumption,
    Dispose,
    Cancel,
    DisposeNode,
}

// Receives the messages of one topic, takes its time for each, and ends in one of the ways in which a subscriber may end, or stays.
internal sealed class StopSubscriber
{
    private readonly SimulatedNode _machine;
    private readonly QuickSilverNode _node;
    private readonly string _topic;
    private readonly StopHistory _history;
    private readonly SubscriberKind _kind;
    private readonly SubscriberVerb _verb;
    private readonly TimeSpan _each;
    private readonly TimeSpan _life;
    private readonly int _capacity;
    private ITopicSubscriber<byte[]>? _subscriber;
    private IConsumption? _consumption;
    private Subscription _subscription;
    // All gaps, and those of messages that came and were not handled.
    private long _told;
    private long _unhandled;

    public StopSubscriber(SimulatedNode machine, string topic, Random draws, StopHistory history)
    {
        _machine = machine;
        _node = machine.Node;
        _topic = topic;
        _history = history;
        _kind = (SubscriberKind)draws.Next(Enum.GetValues<SubscriberKind>().Length);
        _verb = (SubscriberVerb)draws.Next(Enum.GetValues<SubscriberVerb>().Length);
        if (_verb is SubscriberVerb.Stop or SubscriberVerb.DisposeConsumption && _kind > SubscriberKind.ConcurrentConsumer)
        {
            _verb = SubscriberVerb.Dispose;
        }

        _each = TimeSpan.FromMilliseconds(draws.Next(3) switch { 0 => 0, 1 => 0.1, _ => 1 });
        _life = TimeSpan.FromMilliseconds(draws.Next(1, 2500));
        _capacity = draws.Next(2) == 0 ? 16 : 1024;
    }

    // A cancelled reader or consumer ends at once, and so does a disposed consumer. What waits below it by then is counted by the node and
    // reported in the log (event 1650), and not to it.
    private bool EndsAtOnce =>
        _kind != SubscriberKind.Handler && _verb is SubscriberVerb.Cancel or SubscriberVerb.DisposeConsumption;

    public bool IsEnding { get; private set; }

    public bool HasEnded { get; private set; }

    public async Task OpenAsync()
    {
        _subscription = _history.Subscribe(_machine.Number, _topic);
        _subscriber = await _node.OpenSubscriberAsync<byte[]>(_topic, new TopicOptions { ReaderCapacity = _capacity });
        switch (_kind)
        {
            case SubscriberKind.Handler:
                _subscriber.SubscribeInline((in Message<byte[]> message) => Handled(message), Tell, OnEnded);
                break;
            case SubscriberKind.Reader:
                _machine.Post(ReadAsync);
                break;
            default:
                var options = new ConsumerOptions<byte[]>
                {
                    Concurrency = _kind == SubscriberKind.Consumer ? 1 : 4,
                    OnGap = Tell,
                    OnEnded = OnEnded,
                };
                _consumption = _subscriber.Subscribe(async (message, _) => await HandleAsync(message), options);
                break;
        }
    }

    public void EndLater(IReadOnlyList<StopSubscriber> all)
    {
        if (_verb != SubscriberVerb.Stay)
        {
            _machine.Post(() => EndAsync(all));
        }
    }

    public override string ToString() =>
        $"{_subscription}: {_kind} of {_topic}, {_each.TotalMilliseconds} ms each, {_verb} after {_life.TotalMilliseconds} ms, "
        + $"{_told} reported";

    private async Task EndAsync(IReadOnlyList<StopSubscriber> all)
    {
        await Task.Delay(_life, _machine.Time);
        if (_verb == SubscriberVerb.DisposeNode)
        {
            foreach (var other in all.Where(other => other._machine == _machine))
            {
                other.BeginEnd();
            }

            await _node.DisposeAsync();
            return;
        }

        if (IsEnding)
        {
            return;
        }

        BeginEnd();
        switch (_verb)
        {
            case SubscriberVerb.Stop:
                await _consumption!.StopAsync();
                break;
            case SubscriberVerb.DisposeConsumption:
                await _consumption!.DisposeAsync();
                break;
            case SubscriberVerb.Cancel:
                _subscriber!.Cancel();
                break;
            default:
                break;
        }

        await _subscriber!.DisposeAsync();
    }

    private void BeginEnd()
    {
        if (!IsEnding)
        {
            IsEnding = true;
            _history.BeginEnd(_subscription);
        }
    }

    private async Task ReadAsync()
    {
        try
        {
            await foreach (var message in _subscriber!.ReadAllAsync(Tell))
            {
                await HandleAsync(message);
            }
        }
        catch (ObjectDisposedException)
        {
            // The node has ended.
        }

        HasEnded = true;
        _history.End(_subscription, _unhandled, _unhandled, EndsAtOnce);
    }

    private async Task HandleAsync(Message<byte[]> message)
    {
        if (_each > TimeSpan.Zero)
        {
            await Task.Delay(_each, _machine.Time);
        }

        Handled(message);
    }

    private void Handled(in Message<byte[]> message) => _history.Handled(_subscription, message.Sender, message.Sequence);

    private void Tell(GapNotice gap)
    {
        _told += gap.Count;
        _unhandled += gap.Reason == GapReason.SubscriberEnded ? gap.Count : 0;
        _history.Gap(_subscription, gap);
    }

    private void OnEnded(SubscriptionEnd end)
    {
        HasEnded = true;
        _history.End(_subscription, end.Unhandled, _unhandled, EndsAtOnce);
    }
}
