using System.Net;
using System.Net.Sockets;

namespace QuickSilver.Core.Transport;

// Socket.Select and a loopback socket for wakes: runs everywhere, and costs an allocation and a walk over all sockets
// per wait. Ports are few, so that is bearable where there is nothing better.
internal sealed class SelectPoller : IPoller
{
    // Select takes microseconds in an int; a wait without end is renewed by the caller every so often.
    private static readonly TimeSpan LongestWait = TimeSpan.FromMinutes(10);

    private readonly List<(Socket Socket, IReadySource Source)> _registered = [];
    private readonly List<Socket> _asked = [];
    private readonly Socket _wakeReceiver = NewLoopbackSocket();
    private readonly Socket _wakeSender = NewLoopbackSocket();

    public SelectPoller()
    {
        // Connected to each other, so that nobody else's datagram wakes us.
        _wakeSender.Connect(_wakeReceiver.LocalEndPoint!);
        _wakeReceiver.Connect(_wakeSender.LocalEndPoint!);
    }

    public string Name => "select";

    public void Register(Socket socket, IReadySource source) => _registered.Add((socket, source));

    public void Unregister(Socket socket) => _registered.RemoveAll(entry => ReferenceEquals(entry.Socket, socket));

    public int Wait(TimeSpan timeout, IReadySource[] ready)
    {
        _asked.Clear();
        _asked.Add(_wakeReceiver);
        foreach (var (socket, _) in _registered)
        {
            _asked.Add(socket);
        }

        Select(timeout);

        // Select leaves the readable ones in the list, in the order they had.
        int filled = 0;
        int at = 0;
        if (at < _asked.Count && ReferenceEquals(_asked[at], _wakeReceiver))
        {
            TakeWakes();
            at++;
        }

        foreach (var (socket, source) in _registered)
        {
            if (at < _asked.Count && ReferenceEquals(_asked[at], socket))
            {
                at++;
                if (filled < ready.Length)
                {
                    ready[filled++] = source;
                }
            }
        }

        return filled;
    }

    public void WaitForWake(TimeSpan timeout)
    {
        _asked.Clear();
        _asked.Add(_wakeReceiver);
        Select(timeout);
        if (_asked.Count > 0)
        {
            TakeWakes();
        }
    }

    public void Wake()
    {
        try
        {
            // A full buffer means that wakes are waiting already.
            _wakeSender.Send([1], SocketFlags.None, out _);
        }
        catch (ObjectDisposedException)
        {
            // Nobody waits any more.
        }
    }

    public void Dispose()
    {
        _wakeSender.Dispose();
        _wakeReceiver.Dispose();
    }

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
            Socket.Select(_asked, null, null, microseconds);
        }
        catch (SocketException interruption) when (interruption.SocketErrorCode == SocketError.Interrupted)
        {
            _asked.Clear();
        }
    }

    private void TakeWakes()
    {
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
}
