using System.Diagnostics;
using QuickSilver.Feeds;
using QuickSilver.Tool.Perf.Payloads;

namespace QuickSilver.Tool.Perf.Senders;

// Is asked for messages by the node whenever the network can take some: by a feed on each topic. The node asks one topic's feed
// for many before it turns to the next, so topics do not take turns message by message. What is not said to be the caller's is the
// core thread's.
internal sealed class FeedingSender<T, TPayload> : Sender<T, TPayload>, IDisposable
    where TPayload : struct, IPerfPayload<T>
{
    private readonly Feed[] _feeds;
    // The caller's until it sets the task, whose end gives them back.
    private SendRun _run;
    private CancellationToken _stop;
    private TaskCompletionSource? _sending;
    private TaskCompletionSource? _marking;
    private int _untilLook;
    private int _unmarked;

    public FeedingSender(PerfTopics<ITopicPublisher<T>> topics, TPayload payload)
        : base(topics, payload)
    {
        _feeds = new Feed[topics.Count];
        for (int i = 0; i < _feeds.Length; i++)
        {
            _feeds[i] = new Feed(this, topics[i]);
        }
    }

    public override Task SendAsync(SendLength length, Steady? steady, CancellationToken stop)
    {
        _run = new SendRun(length, steady, Sent);
        _stop = stop;
        _untilLook = 0;
        var sending = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Volatile.Write(ref _sending, sending);
        SignalAll();
        return sending.Task;
    }

    public void Dispose()
    {
        foreach (var feed in _feeds)
        {
            feed.Dispose();
        }
    }

    // By the feeds themselves: what is published may overtake what a feed gave and there was no room for yet.
    protected override Task MarkAsync(Func<long, long> sequenceAfter)
    {
        var marking = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _marking = marking;
        _unmarked = _feeds.Length;
        foreach (var feed in _feeds)
        {
            feed.Owe(sequenceAfter(feed.Number));
        }

        SignalAll();
        return marking.Task;
    }

    private void SignalAll()
    {
        foreach (var feed in _feeds)
        {
            feed.Signal();
        }
    }

    // Whether one more may go, and whether it carries its send time.
    private bool TryCount(out bool isStamped)
    {
        isStamped = false;
        if (Volatile.Read(ref _sending) is not { } sending)
        {
            return false;
        }

        if (_untilLook-- == 0)
        {
            if (_stop.IsCancellationRequested || !_run.GoesOn(Sent))
            {
                _sending = null;
                sending.SetResult();
                return false;
            }

            isStamped = true;
            _untilLook = (int)Math.Min(UnstampedRun, _run.Last - Sent) - 1;
        }

        Sent++;
        return true;
    }

    private void OnMarked()
    {
        if (--_unmarked == 0)
        {
            _marking!.SetResult();
        }
    }

    private sealed class Feed : IDisposable
    {
        private const long None = 0;

        private readonly FeedingSender<T, TPayload> _sender;
        private readonly IAttachedFeed _attached;
        private long _owed;
        private bool _isMarked;

        public Feed(FeedingSender<T, TPayload> sender, ITopicPublisher<T> topic)
        {
            _sender = sender;
            _attached = topic.AttachFeed(Pull);
        }

        public long Number { get; private set; }

        public void Owe(long mark) => Volatile.Write(ref _owed, mark);

        public void Signal() => _attached.Signal();

        public void Dispose() => _attached.Dispose();

        private bool Pull(out T value)
        {
            if (_isMarked)
            {
                // It was taken, or it would not be asked again.
                _isMarked = false;
                _sender.OnMarked();
            }

            long owed = Volatile.Read(ref _owed);
            if (owed != None)
            {
                _owed = None;
                _isMarked = true;
                value = _sender.Payload.Write(Stopwatch.GetTimestamp(), owed);
                return true;
            }

            if (!_sender.TryCount(out bool isStamped))
            {
                value = default!;
                return false;
            }

            value = _sender.Payload.Write(isStamped ? Stopwatch.GetTimestamp() : 0, ++Number);
            return true;
        }
    }
}
