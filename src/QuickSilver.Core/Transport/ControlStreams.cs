using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Requests;

namespace QuickSilver.Core.Transport;

// A node's TCP streams and listeners: what they post to, and who closes them at the node's end. The sets are the core
// thread's; the input and output of the streams runs in tasks beside it.
internal sealed class ControlStreams(Action<Request> post, ILogger logger)
{
    private readonly HashSet<TcpControlStream> _streams = [];
    private readonly HashSet<TcpControlListener> _listeners = [];
    // Streams that are closed and still hand what was queued to the network.
    private readonly HashSet<Task> _lingering = [];

    public Action<Request> Post { get; } = post;

    public ILogger Logger { get; } = logger;

    public IControlListener Listen(IPEndPoint local, IControlAcceptor acceptor)
    {
        var listener = TcpControlListener.Open(local, acceptor, this);
        _listeners.Add(listener);
        return listener;
    }

    public IControlStream Connect(IPAddress local, IPEndPoint remote, IControlStreamHandler handler)
    {
        try
        {
            return TcpControlStream.Connect(local, remote, handler, this);
        }
        catch (SocketException refusal)
        {
            return new RefusedStream(remote, handler, $"no socket for a connection to {remote}: {refusal.Message}", Post);
        }
    }

    /// <summary>Closes everything. The task ends when what was queued is sent or given up, within a second.</summary>
    public Task CloseAll()
    {
        foreach (var listener in _listeners.ToArray())
        {
            listener.Dispose();
        }

        foreach (var stream in _streams.ToArray())
        {
            stream.Close();
        }

        return Task.WhenAll(_lingering);
    }

    internal void Add(TcpControlStream stream) => _streams.Add(stream);

    internal void Remove(TcpControlStream stream, Task lingering)
    {
        _streams.Remove(stream);
        _lingering.RemoveWhere(task => task.IsCompleted);
        _lingering.Add(lingering);
    }

    internal void Remove(TcpControlListener listener) => _listeners.Remove(listener);
}


// A control stream for which the system had not even a socket: it takes what it is given, and says in a moment that it is closed,
// as a stream does whose peer cannot be reached.
internal sealed class RefusedStream : IControlStream
{
    private bool _isClosed;

    public RefusedStream(IPEndPoint remote, IControlStreamHandler handler, string reason, Action<Request> post)
    {
        RemoteEndPoint = remote;
        post(new ActionRequest(() =>
        {
            if (!_isClosed)
            {
                _isClosed = true;
                handler.OnClosed(this, reason);
            }
        }));
    }

    public IPEndPoint? RemoteEndPoint { get; }

    public long PendingBytes => 0;

    public void Send(ReadOnlySpan<byte> bytes)
    {
    }

    public void SendShared(byte[] bytes)
    {
    }

    public void Close() => _isClosed = true;
}
