namespace QuickSilver.Multicast.Pacing;

// How long a quiet sender waits before it announces its last number, which is a packet to every member.
//
// Intuition: as long as the acknowledgement may still be on its way an announcement says nothing new, and costs each member a
// wake. In a large or a busy region, where a round takes long, announcements would come at each message, make the round
// longer, and so bring more of themselves. Application: the first wait is twice the time that acknowledgements took of late,
// the next ones double, all between two bounds. What goes wrong: an acknowledgement that came after an announcement does not
// tell its own time, so it is not measured; instead the next packet's first wait is doubled, until one comes without
// (Karn and Partridge's rule for retransmissions).
internal sealed class AnnouncePace
{
    private readonly TimeSpan _least;
    private readonly TimeSpan _most;
    private TimeSpan _first;
    private TimeSpan _wait;
    private TimeSpan _ackTime;
    private TimeSpan _timedAt;
    // The packet whose acknowledgement is timed; 0: none.
    private long _timed;
    private bool _isAnnounced;

    public AnnouncePace(TimeSpan least, TimeSpan most)
    {
        _least = _first = _wait = least;
        _most = most;
    }

    /// <summary>Packets up to this number went out.</summary>
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
            // Longer at once, shorter by halves: one quick round among slow ones is no reason to announce in each of these.
            var sample = now - _timedAt;
            _ackTime = sample > _ackTime ? sample : (_ackTime + sample) / 2;
            _first = Bounded(_ackTime * 2);
        }

        _timed = 0;
    }

    /// <summary>Until the first announcement, if nothing is sent meanwhile.</summary>
    public TimeSpan First() => _wait = _timed != 0 && _isAnnounced && _wait > _first ? _wait : _first;

    /// <summary>It was announced: until the next time.</summary>
    public TimeSpan Next()
    {
        _isAnnounced = true;
        return _wait = Bounded(_wait * 2);
    }

    private TimeSpan Bounded(TimeSpan wait) => wait < _least ? _least : wait < _most ? wait : _most;
}
