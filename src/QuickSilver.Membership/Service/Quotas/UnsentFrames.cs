namespace QuickSilver.Membership.Service.Quotas;

// What a session was given to send and has not sent: what only this session keeps by its length, and what others keep too by name. Streams
// send in order, so what was sent follows from how much is left.
internal sealed class UnsentFrames(KeptBytes kept, long before) : IDisposable
{
    // Shorter ones count as the session's own: to remember them would cost as much.
    private const int LeastShared = 1 << 10;
    private const int MostOwnTogether = 64 << 10;

    // Frames, or how many bytes of the session's own, and how many bytes it was given until their end.
    private readonly Queue<(SharedFrames? Frames, long Own, long End)> _pieces = new();
    // Of before, this does not know what it was.
    private long _given = before;
    // Given last, and in no piece yet.
    private long _own;

    /// <summary>Its part of what the service keeps.</summary>
    public long Share => _own + _pieces.Sum(static piece => piece.Frames?.Share ?? piece.Own);

    public void Add(long own)
    {
        _given += own;
        _own += own;
        kept.Add(own);
        if (_own >= MostOwnTogether)
        {
            EndOwn();
        }
    }

    public void Add(SharedFrames frames)
    {
        if (frames.Length < LeastShared)
        {
            Add(frames.Length);
            return;
        }

        EndOwn();
        _given += frames.Length;
        _pieces.Enqueue((frames, 0, _given));
        kept.Keep(frames);
    }

    /// <summary>Forgets what was sent. False: nothing is left.</summary>
    public bool Trim(long unsent)
    {
        while (_pieces.TryPeek(out var first) && first.End <= _given - unsent)
        {
            DropFirst();
        }

        if (_pieces.Count == 0 && unsent < _own)
        {
            kept.Add(unsent - _own);
            _own = unsent;
        }

        return unsent > 0;
    }

    public void Dispose()
    {
        while (_pieces.Count > 0)
        {
            DropFirst();
        }

        kept.Add(-_own);
        _own = 0;
    }

    private void EndOwn()
    {
        if (_own > 0)
        {
            _pieces.Enqueue((null, _own, _given));
            _own = 0;
        }
    }

    private void DropFirst()
    {
        var (frames, own, _) = _pieces.Dequeue();
        if (frames is null)
        {
            kept.Add(-own);
        }
        else
        {
            kept.Drop(frames);
        }
    }
}
