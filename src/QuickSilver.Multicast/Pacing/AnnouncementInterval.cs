namespace QuickSilver.Multicast.Pacing;

// How long a quiet sender waits before it announces its last number. An announcement is a packet to every member.
//
// Intuition: while the acknowledgement may still be on its way, an announcement shows nothing new, and wakes each member. In a large or
// busy region a round takes long; announcements after each message would lengthen the round and so cause more announcements. Application:
// the first wait is twice the time that recent acknowledgements took, the following waits double, and all are bounded. What goes wrong: an
// acknowledgement that comes after an announcement does not show how long an acknowledgement takes, so it is not measured. Instead the
// first wait of the next packet doubles, until an acknowledgement comes without an announcement (Karn and Partridge's rule for
// retransmissions).
internal sealed class AnnouncementInterval
{
    private readonly TimeSpan _least;
    private readonly TimeSpan _most;
    private TimeSpan _first;
    private TimeSpan _wait;
    private TimeSpan _ackTime;
    private TimeSpan _timedAt;
    // The packet whose acknowledgement is timed; 0 if none is.
    private long _timed;
    private bool _isAnnounced;

    public AnnouncementInterval(TimeSpan least, TimeSpan most)
    {
        _least = _first = _wait = least;
        _most = most;
    }

    /// <summary>Packets up to this number were sent.</summary>
    public void OnSent(long through, TimeSpan now)
    {
        if (_timed == 0)
        {
            _timed = through;
            _timedAt = now;
            _isAnnounced = false;
        }
    }

    public void OnAcknowledged(long through, TimeSpan now)
    {
        if (_timed == 0 || through < _timed)
        {
            return;
        }

        if (_isAnnounced)
        {
            _first = Bounded(_first * 2);
        }
        else
        {
            // A longer time counts at once and a shorter one by half: one fast round among slow ones must not cause an announcement in
            // each of these.
            var sample = now - _timedAt;
            _ackTime = sample > _ackTime ? sample : (_ackTime + sample) / 2;
            _first = Bounded(_ackTime * 2);
        }

        _timed = 0;
    }

    /// <summary>The wait until the first announcement, if nothing is sent meanwhile.</summary>
    public TimeSpan First() => _wait = _timed != 0 && _isAnnounced && _wait > _first ? _wait : _first;

    /// <summary>Notes an announcement. Returns the wait until the next one.</summary>
    public TimeSpan Next()
    {
        _isAnnounced = true;
        return _wait = Bounded(_wait * 2);
    }

    private TimeSpan Bounded(TimeSpan wait) => wait < _least ? _least : wait < _most ? wait : _most;
}
