using QuickSilver.Core.Alarms;
using QuickSilver.Core.Diagnostics;

namespace QuickSilver.Multicast.Nodes;

// The collector's heap has refused memory that received messages need: under a heap limit, or in a container.
//
// Streams and topics that wait for memory wait as for a reader that is full. Their packets are kept in packet memory, which is not on the
// heap, so nothing is lost, and the senders wait. Each refusal costs a full collection, so after one, nothing large is asked for until
// a pause is over, and the pauses double while memory is refused. Then everything that waits tries again.
// A list of these could need memory itself. So the streams are linked to each other, and the messages that wait in
// topics are found through their slow runs.
internal sealed class HeapShortage
{
    private static readonly TimeSpan FirstPause = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(2);

    private readonly NodeContext _context;
    private readonly Alarm _retry;
    private TimeSpan _pause;
    private IHeapWaiter? _first;
    private IHeapWaiter? _last;
    private bool _isReported;
    // Whether its begin is in the log, so that its end is, too.
    private bool _isLogged;
    private long _shortages;
    private bool _isRetrying;

    public HeapShortage(NodeContext context)
    {
        _context = context;
        _retry = new Alarm(Retry);
    }

    /// <summary>Offers again what waits in topics. Set by the layer above.</summary>
    public Action? OfferAgain { get; set; }

    /// <summary>Whether memory was refused so lately that nothing large is asked for yet.</summary>
    public bool IsPausing => _retry.IsPending;

    /// <summary>Whether a stream may wait.</summary>
    public bool IsAnyWaiting => IsPausing || _isRetrying;

    /// <summary>
    /// Whether memory was refused to what is sent, and the pause since then is not over. What is received does not count: a reader may be
    /// refused again and again, and what is sent needs little.
    /// </summary>
    public bool IsSenderRefused { get; private set; }

    /// <summary>Notes a refusal. All that wait for the memory try again when the pause is over.</summary>
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

    /// <summary>Notes a refusal to what is sent. It is asked again when the pause is over.</summary>
    public void OnSenderRefused()
    {
        IsSenderRefused = true;
        OnRefused();
    }

    /// <summary>Something has thrown. All that wait try again after a pause, although nothing was refused.</summary>
    public void TryAgainLater()
    {
        if (!IsPausing)
        {
            _context.Environment.Schedule(_retry, _pause > FirstPause ? _pause : FirstPause);
        }
    }

    /// <summary>Notes a refusal. The stream tries again when the pause is over.</summary>
    public void Await(IHeapWaiter stream)
    {
        OnRefused();
        Add(stream);
    }

    /// <summary>The stream waits for an older one of its sender, which was refused memory. It is tried again with that one.</summary>
    public void AwaitOlder(IHeapWaiter stream)
    {
        Add(stream);
        if (!_isRetrying)
        {
            TryAgainLater();
        }
    }

    public void Close() => _context.Environment.Cancel(_retry);

    private void Add(IHeapWaiter stream)
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
        IsSenderRefused = false;
        _isRetrying = true;
        bool isWhole = false;
        try
        {
            RetryStreams();
            OfferAgain?.Invoke();
            // Topics that had no memory to send.
            _context.OnSenderProgress();
            isWhole = true;
        }
        catch (OutOfMemoryException)
        {
            OnRefused();
        }
        finally
        {
            _isRetrying = false;
            if (!isWhole || _first is not null)
            {
                // Refused again, or not tried because something has thrown.
                TryAgainLater();
            }
        }

        if (!IsPausing)
        {
            End();
        }
    }

    // Those that wait now. One that is refused again is the last.
    private void RetryStreams()
    {
        for (var last = _last; _first is { } stream;)
        {
            _first = stream.NextInShortage;
            _last = _first is null ? null : _last;
            stream.NextInShortage = null;
            stream.IsInShortage = false;
            stream.OnHeapRetry();
            if (ReferenceEquals(stream, last))
            {
                return;
            }
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
            if (RepeatedEvent.IsLogged(++_shortages))
            {
                _isLogged = true;
                MulticastLog.HeapFull(_context.Log, _context.Counters.HeapRefusals, _shortages);
            }
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
        }

        if (_isLogged)
        {
            _isLogged = false;
            MulticastLog.HeapFreed(_context.Log, _context.Counters.HeapRefusals, _shortages);
        }
    }
}

// A stream that waits for memory of the heap. HeapShortage maintains both properties.
internal interface IHeapWaiter
{
    bool IsInShortage { get; set; }

    IHeapWaiter? NextInShortage { get; set; }

    /// <summary>The pause is over: the stream tries again.</summary>
    void OnHeapRetry();
}
