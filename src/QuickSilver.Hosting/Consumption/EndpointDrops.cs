using QuickSilver.Publishing;

namespace QuickSilver.Hosting.Consumption;

// What the endpoints of a topic on the nodes of a host, one after the other, have dropped. Thread-safe.
internal sealed class EndpointDrops
{
    private readonly Lock _lock = new();
    private PublishOrigin? _last;
    private long _before;

    public long Dropped
    {
        get
        {
            lock (_lock)
            {
                return _before + (_last?.Dropped ?? 0);
            }
        }
    }

    /// <summary>The endpoint on the next node; null: it does not publish. The last one has ended, or is about to.</summary>
    public void Add(PublishOrigin? endpoint)
    {
        lock (_lock)
        {
            _before += _last?.Dropped ?? 0;
            _last = endpoint;
        }
    }
}
