using System.Net;
using System.Net.Sockets;

namespace QuickSilver.Core.Transport.Readiness;

// Socket.Select and a loopback socket for wakes: runs everywhere, and costs an allocation and a walk over all sockets
// per wait. Ports are few, so that is bearable where there is nothing better.
internal sealed class SelectPoller : ReadyPoller
{
    // Select takes microseconds in an int; a wait without end is renewed by the caller every so often.
    private static readonly TimeSpan LongestWait = TimeSpan.FromMinutes(10);

    private readonly List<Watched> _registered = [];
    private readonly List<Socket> _readable = [];
    private readonly List<Socket> _writable = [];
    private readonly List<Socket> _failed = [];
    // Where the last look ended: if more are ready than a caller takes, the others come first in the next.
    private int _first;
    private readonly Socket _wakeReceiver = NewLoopbackSocket();
    private readonly Socket _wakeSender = NewLoopbackSocket();

    public SelectPoller()
    {
        // Connected to each other, so that datagrams of others do not wake us.
        _wakeSender.Connect(_wakeReceiver.LocalEndPoint!);
        _wakeReceiver.Connect(_wakeSender.LocalEndPoint!);
    }

    public override string Name => "select";

    internal override void Register(Socket socket, CompletionSource source, Interest interest) =>
        _registered.Add(new Watched(socket, source, interest));

    internal override void Change(Socket socket, Interest interest)
    {
        int index = _registered.FindIndex(watched => ReferenceEquals(watched.Socket, socket));
        _registered[index] = _registered[index] with { Interest = interest };
    }

    internal override void Unregister(Socket socket) => _registered.RemoveAll(watched => ReferenceEquals(watched.Socket, socket));

    protected override int WaitReady(TimeSpan timeout, Span<CompletionSource> ready)
    {
        Ask();
        foreach (var (socket, _, interest) in _registered)
        {
            if (interest.HasFlag(Interest.Read))
            {
                _readable.Add(socket);
            }

            if (interest.HasFlag(Interest.Write))
            {
                _writable.Add(socket);
                _failed.Add(socket);
            }
        }

        Select(timeout);
        TakeWakes();
        int filled = 0;
        int count = _registered.Count;
        int first = _first < count ? _first : 0;
        for (int i = 0; i < count && filled < ready.Length; i++)
        {
            int at = first + i < count ? first + i : first + i - count;
            var (socket, source, interest) = _registered[at];
            bool canWrite = interest.HasFlag(Interest.Write) && (_writable.Contains(socket) || _failed.Contains(socket));
            if (canWrite || _readable.Contains(socket))
            {
                ready[filled++] = source;
                _first = at + 1;
            }
        }

        return filled;
    }

    public override void WaitForWake(TimeSpan timeout)
    {
        Ask();
        Select(timeout);
        TakeWakes();
    }

    public override void Wake()
    {
        try
        {
            // A full buffer means that wakes are waiting already.
            _wakeSender.Send([1], SocketFlags.None, out _);
        }
        catch (ObjectDisposedException)
        {
            // Nothing waits any more.
        }
    }

    public override void Dispose()
    {
        _wakeSender.Dispose();
        _wakeReceiver.Dispose();
    }

    private void Ask()
    {
        _readable.Clear();
        _writable.Clear();
        _failed.Clear();
        _readable.Add(_wakeReceiver);
    }

    // Leaves those that are ready in the lists.
    private void Select(TimeSpan timeout)
    {
        if (timeout == Timeout.InfiniteTimeSpan || timeout > LongestWait)
        {
            timeout = LongestWait;
        }

        // Rounded up: an alarm must find its time come when the wait is over.
        int microseconds = timeout <= TimeSpan.Zero
            ? 0
            : (int)((timeout.Ticks + TimeSpan.TicksPerMicrosecond - 1) / TimeSpan.TicksPerMicrosecond);
        try
        {
            Socket.Select(_readable, _writable, _failed, microseconds);
        }
        catch (SocketException interruption) when (interruption.SocketErrorCode == SocketError.Interrupted)
        {
            _readable.Clear();
            _writable.Clear();
            _failed.Clear();
        }
    }

    private void TakeWakes()
    {
        if (!_readable.Contains(_wakeReceiver))
        {
            return;
        }

        Span<byte> wake = stackalloc byte[1];
        SocketError error;
        do
        {
            _wakeReceiver.Receive(wake, SocketFlags.None, out error);
        }
        while (error == SocketError.Success);
    }

    private static Socket NewLoopbackSocket()
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp) { Blocking = false };
        socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        return socket;
    }

    private readonly record struct Watched(Socket Socket, CompletionSource Source, Interest Interest);
}
