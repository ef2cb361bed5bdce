using System.Runtime.CompilerServices;
using QuickSilver.Core.Environment;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Publishing.Feeds;

// Which of a feed's messages are stable, and which of them were reported to the feed.
//
// Intuition: what a feed sent in one turn went into the same views, and a view's stream is acknowledged in order. So one mark at the end of
// the turn stands for all messages before it, and there are as many marks as turns in flight. What goes wrong: after a change of views, a
// later mark may be reached before an earlier one, which waits for the old view. Application: the marks are in a ring in the order of the
// messages, and a mark is reported to the feed when all marks before it are reached, too.
//
// The feed is notified by a request of its own, because acknowledgements are handled in the middle of protocol work. Marks that are
// reached until then are reported as one.
//
// Invariants: the marks [_first, _next) are not reached or follow one that is not, and none is left after one was abandoned. Their numbers
// of messages increase, and are greater than _stable. _notified <= _stable <= _marked <= the messages that the feed wrote. Nothing is
// reported after the end.
internal sealed class FeedMarks(INodeEnvironment environment, AttachedFeed feed) : SignalRequest(environment), IStabilityObserver
{
    private (long Through, bool IsReached)[] _ring = new (long, bool)[4];
    private long _first;
    private long _next;
    private long _marked;
    private long _stable;
    private long _notified;
    private Exception? _failure;
    // Whether the feed gives nothing more, so that its end comes when all is stable.
    private bool _isDetached;
    private int _hasEnded;

    public bool HasEnded => Volatile.Read(ref _hasEnded) != 0;

    /// <summary>Whether there is room for the mark of what is sent next.</summary>
    public bool HasRoom => _next - _first < _ring.Length;

    /// <summary>
    /// Makes room for more marks. False: the heap has no memory. Called before anything is sent for which there is none: the feed would
    /// never learn that messages without a mark are stable.
    /// </summary>
    public bool TryGrow()
    {
        try
        {
            Grow();
            return true;
        }
        catch (OutOfMemoryException)
        {
            return false;
        }
    }

    /// <summary>All messages up to this number were sent, those after the last mark into the views of now.</summary>
    public void OnSent(ITopicSender sender, long through, bool isLast)
    {
        if (through == _marked || _failure is not null)
        {
            return;
        }

        _marked = through;
        _ring[_next & (_ring.Length - 1)] = (through, false);
        sender.ObserveTaken(this, _next++, isLast);
    }

    public void OnStable(long sequence)
    {
        if (sequence < _first)
        {
            // One before it was abandoned.
            return;
        }

        _ring[sequence & (_ring.Length - 1)].IsReached = true;
        while (_first < _next && _ring[_first & (_ring.Length - 1)] is { IsReached: true } mark)
        {
            _stable = mark.Through;
            _first++;
        }

        Signal();
    }

    public void OnAbandoned(long sequence, string reason)
    {
        _first = _next;
        Fail(new InvalidOperationException($"Messages of the feed cannot become stable: {reason}."));
    }

    /// <summary>A message was lost. Those before it may still become stable, and those after it never do.</summary>
    public void Fail(Exception reason)
    {
        _failure ??= reason;
        feed.Dispose();
        Signal();
    }

    public void OnDetached()
    {
        _isDetached = true;
        Signal();
    }

    /// <summary>The feed's endpoint has ended.</summary>
    public void End(Exception reason, bool isFailure)
    {
        NotifyStable();
        NotifyEnded(isFailure || _stable < feed.Given ? _failure ?? reason : null);
    }

    protected override void OnSignal()
    {
        NotifyStable();
        if (_failure is not null && _first == _next)
        {
            NotifyEnded(_failure);
        }
        else if (_isDetached && _stable == feed.Given)
        {
            NotifyEnded(null);
        }
    }

    private void NotifyStable()
    {
        if (HasEnded || _stable == _notified)
        {
            return;
        }

        _notified = _stable;
        try
        {
            feed.NotifyStable(_notified);
        }
        catch (Exception exception)
        {
            feed.OnFault(exception);
        }
    }

    private void NotifyEnded(Exception? reason)
    {
        if (Interlocked.Exchange(ref _hasEnded, 1) != 0)
        {
            return;
        }

        feed.Dispose();
        try
        {
            feed.NotifyEnded(reason);
        }
        catch (Exception exception)
        {
            feed.OnFault(exception);
        }
    }

    private void Grow()
    {
        Environment.Heap.Ask(HeapUse.SenderTables, 2L * _ring.Length * Unsafe.SizeOf<(long, bool)>());
        var ring = new (long, bool)[_ring.Length * 2];
        for (long at = _first; at < _next; at++)
        {
            ring[at & (ring.Length - 1)] = _ring[at & (_ring.Length - 1)];
        }

        _ring = ring;
    }
}
