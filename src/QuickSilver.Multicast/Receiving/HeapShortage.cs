using QuickSilver.Core.Alarms;
using QuickSilver.Core.Diagnostics;

namespace QuickSilver.Multicast.Receiving;

// The collector's heap has refused memory that received messages need: under a heap limit, or in a container.
//
// What waits for memory waits as for a reader that is full. Its packets are kept in packet memory, which is not on the heap, so
// nothing is lost, and the senders wait. Each refusal costs a full collection, so after one, nothing large is asked for until
// a pause is over, and the pauses double while memory is refused. Then everything that waits tries again.
// A list of what waits could need memory itself. So the streams are linked to each other, and what waits in topics is
// found through their slow runs.
internal sealed class HeapShortage
{
    private static readonly TimeSpan FirstPause = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(2);

    private readonly MulticastContext _context;
    private readonly Alarm _retry;
    private TimeSpan _pause;
    private InboundStream? _first;
    private InboundStream? _last;
    private bool _isReported;

    public HeapShortage(MulticastContext context)
    {
        _context = context;
        _retry = new Alarm(Retry);
    }

    /// <summary>Offers again what waits in topics. Set by the layer above.</summary>
    public Action? OfferAgain { get; set; }

    /// <summary>Whether memory was refused so lately that nothing large is asked for yet.</summary>
    public bool IsPausing => _retry.IsPending;

    /// <summary>Notes a refusal. What waits for the memory tries again when the pause is over.</summary>
    public void OnRefused()
    {
        _context.Counters.HeapRefusals++;
        if (IsPausing)
        {
            return;
        }

        _pause = _pause == TimeSpan.Zero ? FirstPause : _pause * 2;
        _pause = _pause < LongestPause ? _pause : LongestPause;
        _context.Environment.Schedule(_retry, _pause);
        Report();
    }

    /// <summary>Notes a refusal. The stream tries again when the pause is over.</summary>
    public void Await(InboundStream stream)
    {
        OnRefused();
        Add(stream);
    }

    /// <summary>The stream tries again after a pause, and an older one of its sender before it.</summary>
    public void AwaitOlder(InboundStream stream)
    {
        if (!IsPausing)
        {
            _context.Environment.Schedule(_retry, _pause > FirstPause ? _pause : FirstPause);
        }

        Add(stream);
    }

    public void Close() => _context.Environment.Cancel(_retry);

    private void Add(InboundStream stream)
    {
        if (stream.IsInShortage)
        {
            return;
        }

        stream.IsInShortage = true;
        if (_last is null)
        {
            _first = stream;
        }
        else
        {
            _last.NextInShortage = stream;
        }

        _last = stream;
    }

    private void Retry()
    {
        var stream = _first;
        _first = _last = null;
        while (stream is not null)
        {
            var next = stream.NextInShortage;
            stream.NextInShortage = null;
            stream.IsInShortage = false;
            stream.OnHeapRetry();
            stream = next;
        }

        try
        {
            OfferAgain?.Invoke();
            // Topics that had no memory to send.
            _context.OnSenderProgress();
        }
        catch (OutOfMemoryException)
        {
            OnRefused();
        }

        if (!IsPausing)
        {
            End();
        }
    }

    private void Report()
    {
        if (_isReported)
        {
            return;
        }

        try
        {
            const string What = "The heap of this process has no memory for messages. They wait, and so do their senders.";
            _context.Troubles.Begin(this, new Trouble(TroubleKind.HeapFull, What, _context.Environment.UtcNow, "memory of the heap"));
            _isReported = true;
            MulticastLog.HeapFull(_context.Log, _context.Counters.HeapRefusals);
        }
        catch (OutOfMemoryException)
        {
            // The next refusal reports it.
        }
    }

    private void End()
    {
        _pause = TimeSpan.Zero;
        if (_isReported)
        {
            _isReported = false;
            _context.Troubles.End(this);
            MulticastLog.HeapFreed(_context.Log, _context.Counters.HeapRefusals);
        }
    }
}
