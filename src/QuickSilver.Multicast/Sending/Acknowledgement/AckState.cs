using QuickSilver.Core.Environment;

namespace QuickSilver.Multicast.Sending.Acknowledgement;

// What the members of a view have acknowledged of one stream, how long an acknowledgement has been due, and when to ask for the next.
//
// Invariant: what is acknowledged only grows.
internal struct AckState
{
    // When the last acknowledgement arrived, or when the first packet was sent for which one is due.
    private TimeSpan _at;
    // The last packet that asks for an acknowledgement.
    private long _wanted;

    /// <summary>All live members hold the packets up to and including this one.</summary>
    public long Through { get; private set; }

    /// <summary>How long an acknowledgement has been due.</summary>
    public readonly TimeSpan SilenceAt(TimeSpan now) => now - _at;

    /// <summary>Whether a packet is to ask for an acknowledgement, because so many before it have not.</summary>
    public bool TryWant(long packet, int spacing)
    {
        bool wants = packet - _wanted >= spacing;
        _wanted = wants ? packet : _wanted;
        return wants;
    }

    /// <summary>An acknowledgement has come. Returns whether it acknowledges more than those before.</summary>
    public bool OnAck(long through, TimeSpan now)
    {
        _at = now;
        bool isMore = through > Through;
        Through = isMore ? through : Through;
        return isMore;
    }

    /// <summary>Packets behind this one were sent. If all up to it are acknowledged, the next acknowledgement is due from now on.</summary>
    public void OnSent(long before, TimeSpan now) => _at = Through == before ? now : _at;

    /// <summary>No member acknowledges packets of a best-effort stream: they count as held when they were sent.</summary>
    public void SkipTo(long sent) => Through = sent;

    /// <summary>This node stood still for so long: acknowledgements that came meanwhile are not read yet.</summary>
    public void OnPause(TimeSpan length, TimeSpan now) => _at = Pause.LeaveOut(length, _at, now);
}
