using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Transport.Datagrams;
using QuickSilver.Core.Transport.Descriptors;
using QuickSilver.Core.Transport.Tls;

namespace QuickSilver.Core.Transport.Streams;

// Owns a node's TCP streams and listeners, and closes them at the node's end. All of it is the core thread's.
internal sealed class ControlStreams
{
    private readonly Func<StreamThread> _newThread;
    private readonly HashSet<IControlStream> _streams = [];
    private readonly HashSet<TcpControlListener> _listeners = [];
    // Streams that are closed and still hand what was queued to the network.
    private readonly HashSet<Task> _lingering = [];
    private StreamThread? _thread;

    /// <param name="host">Whose streams these are.</param>
    /// <param name="newThread">Makes the thread of its streams, which is ended with them.</param>
    /// <param name="credentials">Null: streams are TCP alone.</param>
    /// <exception cref="TransportException">The system refuses the thread what it needs.</exception>
    public ControlStreams(IStreamHost host, Func<StreamThread> newThread, IStreamCredentials? credentials = null)
    {
        Host = host;
        _newThread = newThread;
        if (credentials is not null)
        {
            // With the node, so that it is there when the system has no more to give.
            _thread = newThread();
            Credentials = new StreamCredentials(credentials, _thread);
        }
    }

    public IStreamHost Host { get; }

    /// <summary>Null: streams are TCP alone. Otherwise all of them are TLS.</summary>
    public StreamCredentials? Credentials { get; }

    /// <summary>Null where the system shows no limit.</summary>
    public DescriptorRoom? Descriptors { get; init; }

    /// <summary>What is received comes here first, and small messages are gathered here: nothing stays after the step.</summary>
    public byte[] Scratch => field ??= GC.AllocateUninitializedArray<byte>(IStreamSocket.MostReceivedBytes, pinned: true);

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
            return Credentials is not null
                ? TlsControlStream.Connect(local, remote, handler, this)
                : TcpControlStream.Connect(local, remote, handler, this);
        }
        catch (SocketException refusal)
        {
            string why = DescriptorRoom.InWords(refusal, Descriptors);
            return new RefusedStream(remote, handler, $"no socket for a connection to {remote}: {why}", Host.Poller);
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

        _thread?.End();
        return Task.WhenAll(_lingering);
    }

    /// <summary>Sends what a stream has left, and closes its socket, within a second.</summary>
    internal Task Linger(Socket socket, Queue<ReadOnlyMemory<byte>> rest)
    {
        try
        {
            _thread ??= _newThread();
        }
        catch (TransportException)
        {
            // Without a descriptor for that, the last words are lost.
            socket.Dispose();
            return Task.CompletedTask;
        }

        return LingeringClose.Begin(_thread, socket, rest);
    }

    internal void Add(IControlStream stream) => _streams.Add(stream);

    internal void Remove(IControlStream stream, Task lingering)
    {
        _streams.Remove(stream);
        _lingering.RemoveWhere(task => task.IsCompleted);
        _lingering.Add(lingering);
    }

    internal void Remove(TcpControlListener listener) => _listeners.Remove(listener);
}

// A control stream for which the system had not even a socket: it takes what it is given, and says in a moment that it is closed,
// as a stream does whose peer cannot be reached.
internal sealed class RefusedStream : CompletionSource, IControlStream
{
    private readonly IControlStreamHandler _handler;
    private readonly string _reason;
    private bool _isTaken;
    private bool _isClosed;

    public RefusedStream(IPEndPoint remote, IControlStreamHandler handler, string reason, IPoller poller)
    {
        RemoteEndPoint = remote;
        _handler = handler;
        _reason = reason;
        poller.Post(this);
    }

    public IPEndPoint? RemoteEndPoint { get; }

    public long PendingBytes => 0;

    public override bool IsClosed => _isClosed;

    public override TakeOutcome TryTake(RunMemory memory, out Completion completion)
    {
        completion = _isTaken || _isClosed ? default : new Completion(this, CompletionKind.Error, (int)SocketError.TooManyOpenSockets);
        _isTaken = true;
        return completion.Kind == CompletionKind.None ? TakeOutcome.Nothing : TakeOutcome.Taken;
    }

    public override void OnCompletion(in Completion completion)
    {
        _isClosed = true;
        _handler.OnClosed(this, _reason);
    }

    public void Send(ReadOnlySpan<byte> bytes)
    {
    }

    public void SendShared(byte[] bytes)
    {
    }

    public void Close() => _isClosed = true;
}
