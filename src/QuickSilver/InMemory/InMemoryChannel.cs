using QuickSilver.Core.Flow;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.InMemory;

// The extensions and then the payload of a message, shared by its receivers.
internal sealed record InMemoryMessage(NodeKey Sender, long Sequence, byte[] Bytes, int ExtensionBytes) : IInMemoryItem;

// What waits at a receiver: a message, or a view of a pinned topic between messages.
internal interface IInMemoryItem;

internal sealed record InMemoryView(RegionView View) : IInMemoryItem;

// A node's sender of a topic. What is handed to the receivers cannot be lost, so it is stable at once. Core thread only, unless stated
// otherwise.
internal sealed class InMemorySender(InMemoryParts node, InMemoryWire wire) : ITopicSender
{
    private bool _isClosed;

    public ISenderFeed? Feed { get; set; }

    public long Count { get; private set; }

    public bool IsStable => true;

    /// <summary>Whether a barrier on this node holds the topic's publishers.</summary>
    public bool IsHeld => node.IsHeld(wire.TopicId);

    public long TrySend(ReadOnlySpan<byte> payload, IStabilityObserver? observer, ReadOnlySpan<byte> extensions = default)
    {
        if (!AwaitRoom())
        {
            return -1;
        }

        byte[] bytes = new byte[extensions.Length + payload.Length];
        extensions.CopyTo(bytes);
        payload.CopyTo(bytes.AsSpan(extensions.Length));
        wire.Send(new InMemoryMessage(node.Self, ++Count, bytes, extensions.Length));
        observer?.OnStable(Count);
        return Count;
    }

    public bool AwaitRoom() => !_isClosed && wire.AwaitRoom(this);

    public void ObserveTaken(IStabilityObserver observer, long number, bool isLast) => observer.OnStable(number);

    public void WhenStable(Action callback) => callback();

    public void Close()
    {
        _isClosed = true;
        wire.Forget(this);
    }

    /// <summary>From any thread.</summary>
    public void PostRoom() => node.Post(() =>
    {
        bool hasMore = !_isClosed;
        while (hasMore)
        {
            var budget = PullBudget.OneTurn;
            hasMore = Feed?.Pull(ref budget) ?? false;
        }
    });
}

// A node's receiver of a topic. Core thread only, unless stated otherwise.
internal sealed class InMemoryReceiver : ITopicReceiver
{
    private readonly InMemoryParts _node;
    private readonly InMemoryWire _wire;
    private readonly IDeliverySink _sink;
    private readonly Queue<IInMemoryItem> _queue = new();
    // Of a pinned topic.
    private readonly InMemoryViews? _views;
    private readonly bool _reportsStable;
    private int _waiting;
    private bool _isClosed;
    private bool _isDraining;
    // Called when all that was sent to this receiver was taken; null: it is still in the topic.
    private Action? _completed;

    public InMemoryReceiver(InMemoryParts node, InMemoryWire wire, in ChannelSpec channel, IDeliverySink sink)
    {
        _views = channel.IsPinned ? new InMemoryViews(node, wire, sink) : null;
        _reportsStable = channel.ReportsStable;
        _node = node;
        _wire = wire;
        _sink = sink;
        wire.Add(this);
    }

    /// <summary>From any thread: the messages that were sent and not taken yet.</summary>
    public int Waiting => Volatile.Read(ref _waiting);

    public long Taken { get; private set; }

    public void PostMessage(InMemoryMessage message)
    {
        Interlocked.Increment(ref _waiting);
        _node.Post(() =>
        {
            if (_views is { HasBegun: false })
            {
                // It was sent to the members of a view in which this one is not.
                Interlocked.Decrement(ref _waiting);
                _wire.OnRoom();
            }
            else if (!_isClosed)
            {
                _queue.Enqueue(message);
                Drain();
            }
        });
    }

    /// <summary>From any thread: the topic has other subscribers, and what is sent from now on is sent to these.</summary>
    public void PostView(RegionView view)
    {
        if (_views is null || !view.Members.Contains(_node.Self))
        {
            return;
        }

        _node.Post(() =>
        {
            if (!_isClosed)
            {
                _queue.Enqueue(new InMemoryView(view));
                _node.SetRegion(view);
                _views.OnDecided(view);
                Drain();
            }
        });
    }

    public void Resume() => Drain();

    public IReadOnlyList<UntakenRange> Untaken() =>
    [
        .. _queue.OfType<InMemoryMessage>().GroupBy(static one => one.Sender)
            .Select(static group => new UntakenRange(group.Key, group.First().Sequence, group.Last().Sequence)),
    ];

    public void AwaitLast(long configuration, Action settled, Action completed)
    {
        // What was sent before is posted before.
        _wire.Remove(this);
        _node.Post(() =>
        {
            _completed = completed;
            settled();
            CompleteIfEmpty();
        });
    }

    public void Close()
    {
        _isClosed = true;
        _queue.Clear();
        _views?.Close();
        _wire.Remove(this);
    }

    // A sink may ask for more while it takes one.
    private void Drain()
    {
        if (_isDraining)
        {
            return;
        }

        _isDraining = true;
        bool tookAny = false;
        while (!_isClosed && _queue.TryPeek(out var item))
        {
            if (item is not InMemoryMessage next)
            {
                _queue.Dequeue();
                _views!.Install(((InMemoryView)item).View);
                continue;
            }

            var message = new DeliveredMessage(next.Sender);
            int length = next.Bytes.Length - next.ExtensionBytes;
            message.Set(_wire.TopicId, next.Sequence, next.Bytes, next.ExtensionBytes, length, next.ExtensionBytes);
            if (!_sink.TryAccept(message))
            {
                break;
            }

            // The sink may have closed this receiver.
            _queue.TryDequeue(out _);
            Taken++;
            Interlocked.Decrement(ref _waiting);
            tookAny = true;
            if (_reportsStable && !_isClosed)
            {
                // What was handed to the receivers cannot be lost.
                _sink.OnStable(next.Sender, next.Sequence);
            }
        }

        _isDraining = false;
        if (tookAny)
        {
            _wire.OnRoom();
        }

        CompleteIfEmpty();
    }

    private void CompleteIfEmpty()
    {
        if (!_isClosed && _queue.Count == 0 && _completed is { } completed)
        {
            _completed = null;
            completed();
        }
    }
}
