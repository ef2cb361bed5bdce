using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Flow;
using QuickSilver.Core.Requests;

namespace QuickSilver.Multicast.Sending;

// The root of the tree of feeds: all that a node sends of its streams is pulled from here at the end of a turn of the core thread, when all
// that was received is handled. Packets that the windows allow leave in portions, and sockets are read in between: a token never waits for
// a backlog, and what a burst would overflow has time to be read.
//
// Feeds of repairs go before new data: what is missing fills the buffers of all (001, section 4). Feeds with less than a whole run register
// to be flushed. They are asked when the others have had their turns, so what came for several of them meanwhile shares their runs.
internal sealed class SocketSink
{
    // The limits of one turn. Many runs take far less time as a rule; on a slow machine, time ends the turn.
    private const int TurnRuns = 16;
    private static readonly TimeSpan TurnTime = TimeSpan.FromMilliseconds(2);
    private static readonly TimeSpan PauseAfterException = TimeSpan.FromMilliseconds(100);

    private readonly INodeEnvironment _environment;
    private readonly Request _turn;
    private readonly FeedLine _repairs = new();
    private readonly FeedLine _data = new();
    // Exchanged at each turn: a flush may register for the next.
    private List<IFlushedFeed> _unflushed = [];
    private List<IFlushedFeed> _flushing = [];
    // Feeds that wait for several streams at once. Null until there is one.
    private List<IPatientFeed>? _patient;
    // Null until a feed has thrown.
    private Alarm? _again;
    // A feed of the other kind has thrown in the last turn, and may throw again.
    private bool _isDataFirst;
    private bool _isDeferred;
    private bool _isClosed;

    public SocketSink(INodeEnvironment environment)
    {
        _environment = environment;
        _turn = new ActionRequest(Turn);
    }

    /// <summary>The feed has a whole run to send, or something that waits for no more.</summary>
    public void Register(IFeed feed, FeedPriority priority = FeedPriority.Data)
    {
        (priority == FeedPriority.Repair ? _repairs : _data).Add(feed);
        Defer();
    }

    /// <summary>The feed has something, and would like to have more before it is sent. Asked at the end of the next turn.</summary>
    public void FlushSoon(IFlushedFeed feed)
    {
        if (!feed.IsFlushNoted)
        {
            _unflushed.Add(feed);
            feed.IsFlushNoted = true;
        }

        Defer();
    }

    /// <summary>Asks all feeds that registered to be flushed, now.</summary>
    public void Flush()
    {
        (_unflushed, _flushing) = (_flushing, _unflushed);
        int flushed = 0;
        try
        {
            for (; flushed < _flushing.Count; flushed++)
            {
                var feed = _flushing[flushed];
                feed.IsFlushNoted = false;
                feed.Flush();
            }
        }
        finally
        {
            if (flushed < _flushing.Count)
            {
                NoteAgain(flushed);
            }

            _flushing.Clear();
        }
    }

    /// <summary>The feed waits for streams that cannot send now. Asked when waiting must end, unless it withdraws.</summary>
    public void AddPatient(IPatientFeed feed) => (_patient ??= []).Add(feed);

    public void RemovePatient(IPatientFeed feed) => _patient?.Remove(feed);

    /// <summary>As <see cref="Flush"/>, and no feed waits any longer for streams that cannot send.</summary>
    public void FlushAll()
    {
        Flush();
        while (_patient is { Count: > 0 } patient)
        {
            patient[^1].EndPatience();
        }

        Flush();
    }

    /// <summary>Asks no feed any more.</summary>
    public void Close()
    {
        _isClosed = true;
        if (_again is not null)
        {
            _environment.Cancel(_again);
        }
    }

    private void Defer()
    {
        if (!_isDeferred && !_isClosed)
        {
            _environment.Defer(WorkClass.OutboundData, _turn);
            _isDeferred = true;
        }
    }

    private void Turn()
    {
        _isDeferred = false;
        if (_isClosed)
        {
            return;
        }

        bool isWhole = false;
        try
        {
            GiveTurns();
            isWhole = true;
        }
        finally
        {
            _isDataFirst = !isWhole && !_isDataFirst;
            if (!isWhole)
            {
                GoOnLater();
            }

            Flush();
        }

        if (_repairs.Count + _data.Count > 0)
        {
            Defer();
        }
    }

    private void GiveTurns()
    {
        var end = _environment.Now + TurnTime;
        for (int run = 0; run < TurnRuns && _repairs.Count + _data.Count > 0; run++)
        {
            var budget = PullBudget.Unlimited;
            (_repairs.Count > 0 && (!_isDataFirst || _data.Count == 0) ? _repairs : _data).GiveTurn(ref budget);
            if (_environment.Now >= end)
            {
                break;
            }
        }
    }

    // The feed at this place has thrown. Those behind it are flushed the next time, and it is the last, because it may throw again.
    private void NoteAgain(int thrown)
    {
        for (int i = thrown + 1; i < _flushing.Count; i++)
        {
            _unflushed.Add(_flushing[i]);
        }

        var feed = _flushing[thrown];
        if (!feed.IsFlushNoted)
        {
            _unflushed.Add(feed);
            feed.IsFlushNoted = true;
        }

        GoOnLater();
    }

    // What threw may throw again, so what is left waits for a pause. Nothing else may come that would set it going.
    private void GoOnLater()
    {
        _again ??= new Alarm(Defer);
        if (!_again.IsPending && !_isClosed)
        {
            _environment.Schedule(_again, PauseAfterException);
        }
    }
}

// A feed that registers to be flushed.
internal interface IFlushedFeed : IFeed
{
    /// <summary>Whether the feed is noted to be flushed. Set by the sink.</summary>
    bool IsFlushNoted { get; set; }

    /// <summary>Sends what it has, although it is less than a whole run.</summary>
    void Flush();
}

// A feed that gives what it has to several streams at once, and waits until all of them can send.
internal interface IPatientFeed : IFlushedFeed
{
    /// <summary>Gives the streams what it has, now, and withdraws.</summary>
    void EndPatience();

    /// <summary>Returns packet memory that it does not need now.</summary>
    void Rest();
}

// Strict order between the feeds of a socket; turns are taken within each.
internal enum FeedPriority : byte
{
    Repair,
    Data,
}
