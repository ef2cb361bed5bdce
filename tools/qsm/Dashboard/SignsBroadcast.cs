using System.Net;
using System.Threading.Channels;

namespace QuickSilver.Tool.Dashboard;

// Gives each event to all browsers. One that does not keep up gets the newest events, and not those between: what it shows is the present.
// Thread-safe.
internal sealed class SignsBroadcast(int most)
{
    // One that is being read and one that waits.
    private const int MostWaiting = 2;

    private readonly Lock _lock = new();
    private readonly List<Viewer> _viewers = [];

    public int Viewers
    {
        get
        {
            lock (_lock)
            {
                return _viewers.Count;
            }
        }
    }

    /// <summary>Where the browsers are, for a sentence.</summary>
    public string Holders
    {
        get
        {
            lock (_lock)
            {
                return DashboardPlaces.HoldersOf(_viewers.Select(static viewer => viewer.From));
            }
        }
    }

    /// <summary>Adds a browser, until it is disposed; null if there are too many.</summary>
    /// <param name="from">Its address.</param>
    public Viewer? TryAdd(IPAddress? from = null)
    {
        lock (_lock)
        {
            if (_viewers.Count >= most)
            {
                return null;
            }

            var viewer = new Viewer(this, from ?? IPAddress.None);
            _viewers.Add(viewer);
            return viewer;
        }
    }

    /// <param name="frame">An event as it is sent. All browsers share its bytes.</param>
    public void Send(ReadOnlyMemory<byte> frame)
    {
        lock (_lock)
        {
            foreach (var viewer in _viewers)
            {
                viewer.Give(frame);
            }
        }
    }

    private void Remove(Viewer viewer)
    {
        lock (_lock)
        {
            _viewers.Remove(viewer);
        }
    }

    internal sealed class Viewer(SignsBroadcast broadcast, IPAddress from) : IDisposable
    {
        private readonly Channel<ReadOnlyMemory<byte>> _frames = Channel.CreateBounded<ReadOnlyMemory<byte>>(
            new BoundedChannelOptions(MostWaiting) { FullMode = BoundedChannelFullMode.DropOldest, SingleReader = true });

        public IPAddress From { get; } = from;

        public ChannelReader<ReadOnlyMemory<byte>> Frames => _frames.Reader;

        public void Give(ReadOnlyMemory<byte> frame) => _frames.Writer.TryWrite(frame);

        public void Dispose() => broadcast.Remove(this);
    }
}
