namespace QuickSilver.Multicast.Channels;

// The barriers of one subscription of a pinned topic. While one of them is not released, the topic's publishers on this node are held.
internal sealed class FlushBarriers(Action<bool> setHeld)
{
    private int _open;
    private bool _isClosed;

    /// <summary>Whether a barrier is not released yet.</summary>
    public bool IsHeld => _open > 0;

    public IFlushBarrier Begin(long configuration)
    {
        if (_open++ == 0)
        {
            setHeld(true);
        }

        return new Barrier(this, configuration);
    }

    /// <summary>The subscription is closed: it holds no publisher any more.</summary>
    public void Close()
    {
        _isClosed = true;
        if (_open > 0)
        {
            _open = 0;
            setHeld(false);
        }
    }

    private void OnReleased()
    {
        if (!_isClosed && --_open == 0)
        {
            setHeld(false);
        }
    }

    private sealed class Barrier(FlushBarriers barriers, long configuration) : IFlushBarrier
    {
        private bool _isReleased;

        public long Configuration => configuration;

        public void Release()
        {
            if (!_isReleased)
            {
                _isReleased = true;
                barriers.OnReleased();
            }
        }
    }
}
