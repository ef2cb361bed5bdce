using QuickSilver.Simulation.Machines.Time;

namespace QuickSilver.Simulation.Network.Streams;

internal enum StreamItemKind
{
    Connected,
    Bytes,
    End,
}

// What travels in a pipe: the answer to a connection, a chunk of bytes, or the end with its reason.
internal readonly record struct StreamItem(TimeSpan Due, StreamItemKind Kind, ReadOnlyMemory<byte> Bytes, string Reason);

// One direction of a connection: reliable and in order, however the link is. A cut link delays (the head is tried again
// as TCP retransmits), loss delays by a retransmission, and a reader that does not read fills the window, after which
// bytes wait at the sender. Chunks are cut at random, so readers meet every boundary.
internal sealed class StreamPipe : VirtualEvent
{
    private const int WindowBytes = 256 * 1024;
    private const int LargestChunk = 64 * 1024;

    private static readonly TimeSpan Retransmission = TimeSpan.FromMilliseconds(200);
    private static readonly TimeSpan LargestGap = TimeSpan.FromMicroseconds(100);

    private readonly SimulatedNetwork _network;
    private readonly SimulatedLink _link;
    private readonly PendingBytes _pending = new();
    // Null while nothing travels: a stream is idle nearly always, and there are two for each node.
    private Queue<StreamItem>? _travelling;
    private int _unreadBytes;
    private TimeSpan _lastDue;
    private bool _open;
    private bool _ended;
    private bool _ticking;

    internal StreamPipe(SimulatedNetwork network, SimulatedLink link)
    {
        _network = network;
        _link = link;
    }

    public long PendingBytes => _pending.Count;

    /// <summary>Where what arrives goes; null: nowhere.</summary>
    public SimulatedStream? Reader { get; set; }

    /// <summary>The bytes never change, and are not copied.</summary>
    public void Send(byte[] bytes)
    {
        if (!_ended)
        {
            _pending.Add(bytes);
            Pump();
        }
    }

    /// <summary>From now on bytes may travel.</summary>
    public void Open()
    {
        _open = true;
        Pump();
    }

    public void Report(StreamItemKind kind, string reason)
    {
        if (!_ended)
        {
            Dispatch(kind, default, reason);
        }
    }

    /// <summary>The last thing that this side says; what was not yet under way is not sent any more.</summary>
    public void End(string reason)
    {
        if (!_ended)
        {
            Dispatch(StreamItemKind.End, default, reason);
            _ended = true;
            _pending.Clear();
        }
    }

    /// <summary>Nothing more arrives, not even what is under way.</summary>
    public void Cut()
    {
        _ended = true;
        _pending.Clear();
        _travelling = null;
    }

    /// <summary>The reader took this many bytes in.</summary>
    public void OnRead(int bytes)
    {
        _unreadBytes -= bytes;
        Pump();
    }

    internal override void Fire()
    {
        _ticking = false;
        while (_travelling is not null && _travelling.TryPeek(out var head) && head.Due <= _network.Now)
        {
            if (_link.HoldsStreams || _link.To.IsSilent)
            {
                Tick(_network.Now + Retransmission);
                return;
            }

            _travelling.Dequeue();
            Reader?.Arrived(head);
        }

        if (_travelling is not null && _travelling.TryPeek(out var next))
        {
            Tick(next.Due);
        }
        else
        {
            _travelling = null;
        }
    }

    private void Pump()
    {
        while (_open && !_ended && _pending.Count > 0 && _unreadBytes < WindowBytes)
        {
            int all = _pending.Together(LargestChunk);
            int size = _network.Random.Chance(0.5) ? all : 1 + _network.Random.Below(all);
            var bytes = _pending.Take(size);
            _unreadBytes += size;
            Dispatch(StreamItemKind.Bytes, bytes, "");
        }
    }

    private void Dispatch(StreamItemKind kind, ReadOnlyMemory<byte> bytes, string reason)
    {
        var gap = _network.Random.Chance(0.25) ? _network.Random.UpTo(LargestGap) : TimeSpan.Zero;
        var due = _network.Now + _link.StreamDelay(Retransmission) + gap;
        _lastDue = due > _lastDue ? due : _lastDue;
        (_travelling ??= new()).Enqueue(new StreamItem(_lastDue, kind, bytes, reason));
        Tick(_lastDue);
    }

    private void Tick(TimeSpan due)
    {
        if (!_ticking)
        {
            _ticking = true;
            _network.Time.At(due, this);
        }
    }
}
