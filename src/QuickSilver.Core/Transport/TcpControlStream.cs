using System.Buffers;
using System.Diagnostics;
using System.IO.Pipelines;
using System.Net;
using System.Net.Sockets;
using System.Threading.Channels;
using QuickSilver.Core.Requests;

namespace QuickSilver.Core.Transport;

// A control stream over TCP. Two tasks move bytes between the socket and two pipes; the core thread holds the other ends
// and is told by requests. Whatever is not marked as a task's is the core thread's.
//
// Bounds: while more than UnreadBytes wait for the core thread nothing is read from the socket, and TCP holds the peer
// back. What the handler was offered and left is not among these (it waits for the rest of its frame, so to stop reading
// then would be to stop for ever); a handler that leaves more than HeldLimitBytes loses the stream.
[DebuggerDisplay("{RemoteEndPoint}")]
internal sealed class TcpControlStream : IControlStream
{
    internal const int UnreadBytes = 1 << 20;
    internal const int HeldLimitBytes = 64 << 20;
    private const int ReceiveBytes = 16 << 10;
    // Of what waits to be sent, so much goes into one call at most.
    private const int SendPieces = 64;
    // How long a closed stream may take to hand over what was queued, such as the reason why it closes.
    private static readonly TimeSpan LingerLimit = TimeSpan.FromSeconds(1);

    private readonly Socket _socket;
    private readonly ControlStreams _streams;
    private readonly Pipe _input = new(new PipeOptions(
        pauseWriterThreshold: UnreadBytes, resumeWriterThreshold: UnreadBytes / 2, useSynchronizationContext: false));
    // Whole arrays, never changed, and some of them other streams' too.
    private readonly Channel<byte[]> _output = Channel.CreateUnbounded<byte[]>(
        new UnboundedChannelOptions { SingleReader = true, SingleWriter = true });
    private readonly Arrival _arrival;
    private IControlStreamHandler? _handler;
    private HeldBytes _held;
    private Task _receiving = Task.CompletedTask;
    private Task _sending = Task.CompletedTask;
    private long _pendingBytes;
    private int _isArrivalPosted;
    private bool _isClosed;

    private TcpControlStream(Socket socket, IPEndPoint remote, ControlStreams streams)
    {
        _socket = socket;
        _streams = streams;
        _arrival = new Arrival(this);
        RemoteEndPoint = remote;
        streams.Add(this);
    }

    public IPEndPoint? RemoteEndPoint { get; }

    public long PendingBytes => Volatile.Read(ref _pendingBytes);

    /// <summary>Connects from this address: the stream goes the way that datagrams go, and tells whether there is one.</summary>
    internal static TcpControlStream Connect(IPAddress local, IPEndPoint remote, IControlStreamHandler handler, ControlStreams streams)
    {
        var socket = new Socket(remote.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        var stream = new TcpControlStream(socket, remote, streams) { _handler = handler };
        _ = stream.ConnectAsync(local);
        return stream;
    }

    /// <summary>Null when the peer is gone already; then the socket stays the caller's.</summary>
    internal static TcpControlStream? TryAccept(Socket socket, ControlStreams streams)
    {
        try
        {
            socket.NoDelay = true;
            return new TcpControlStream(socket, (IPEndPoint)socket.RemoteEndPoint!, streams);
        }
        catch (SocketException)
        {
            return null;
        }
    }

    /// <summary>Starts an accepted stream, unless the acceptor has closed it already.</summary>
    internal void Begin(IControlStreamHandler handler)
    {
        _handler = handler;
        if (!_isClosed)
        {
            _receiving = ReceiveAsync();
            _sending = SendAsync();
        }
    }

    public void Send(ReadOnlySpan<byte> bytes)
    {
        if (!_isClosed && !bytes.IsEmpty)
        {
            SendShared(bytes.ToArray());
        }
    }

    public void SendShared(byte[] bytes)
    {
        if (!_isClosed && bytes.Length > 0)
        {
            Interlocked.Add(ref _pendingBytes, bytes.Length);
            _output.Writer.TryWrite(bytes);
        }
    }

    public void Close()
    {
        if (!_isClosed)
        {
            _isClosed = true;
            _input.Reader.Complete();
            _output.Writer.Complete();
            _held = default;
            _streams.Remove(this, LingerAsync());
        }
    }

    private async Task ConnectAsync(IPAddress local)
    {
        // First off the core thread: some systems decide at once, and even that outcome comes as a request.
        await Task.Yield();
        try
        {
            // A service on this machine may be named by its loopback address by a node that is on another interface.
            if (!local.Equals(IPAddress.Any) && IPAddress.IsLoopback(local) == IPAddress.IsLoopback(RemoteEndPoint!.Address))
            {
                _socket.Bind(new IPEndPoint(local, 0));
            }

            await _socket.ConnectAsync(RemoteEndPoint!);
            _socket.NoDelay = true;
            _streams.Post(new ActionRequest(OnConnected));
        }
        catch (Exception failure) when (IsExpected(failure))
        {
            PostClosed($"cannot connect to {RemoteEndPoint} from {local}: {InWords(failure)}");
        }
    }

    // The system's own words differ from one to the next, and say neither that somebody answered nor what to look at.
    private static string InWords(Exception failure) => (failure as SocketException)?.SocketErrorCode switch
    {
        SocketError.ConnectionRefused => "connection refused; nothing listens there, or a firewall blocks it",
        SocketError.HostUnreachable or SocketError.NetworkUnreachable or SocketError.NetworkDown => "no route to host",
        SocketError.TimedOut => "connection attempt timed out",
        _ => failure.Message,
    };

    private void OnConnected()
    {
        if (!_isClosed)
        {
            Begin(_handler!);
            _handler!.OnConnected(this);
        }
    }

    // A task.
    private async Task ReceiveAsync()
    {
        await Task.Yield();
        string reason = "the peer closed the stream";
        try
        {
            while (true)
            {
                int received = await _socket.ReceiveAsync(_input.Writer.GetMemory(ReceiveBytes), SocketFlags.None);
                if (received == 0)
                {
                    break;
                }

                _input.Writer.Advance(received);
                var flush = _input.Writer.FlushAsync();
                PostArrival();
                if ((await flush).IsCompleted)
                {
                    await DiscardAsync();
                    return;
                }
            }
        }
        catch (Exception failure) when (IsExpected(failure))
        {
            reason = $"the stream failed: {failure.Message}";
        }

        await _input.Writer.CompleteAsync();
        PostClosed(reason);
    }

    // A task. Unread bytes at the close would make the system reset the connection, and lose what we sent last.
    private async Task DiscardAsync()
    {
        var scratch = new byte[ReceiveBytes];
        while (await _socket.ReceiveAsync(scratch.AsMemory(), SocketFlags.None) > 0)
        {
        }
    }

    // A task.
    private async Task SendAsync()
    {
        await Task.Yield();
        try
        {
            var pieces = new List<ArraySegment<byte>>();
            while (await _output.Reader.WaitToReadAsync())
            {
                while (pieces.Count < SendPieces && _output.Reader.TryRead(out byte[]? piece))
                {
                    pieces.Add(piece);
                }

                while (pieces.Count > 0)
                {
                    int sent = await _socket.SendAsync(pieces, SocketFlags.None);
                    Interlocked.Add(ref _pendingBytes, -sent);
                    Consume(pieces, sent);
                }
            }
        }
        catch (Exception failure) when (IsExpected(failure))
        {
            PostClosed($"the stream failed: {failure.Message}");
        }
    }

    private static void Consume(List<ArraySegment<byte>> pieces, int sent)
    {
        int whole = 0;
        for (; whole < pieces.Count && pieces[whole].Count <= sent; whole++)
        {
            sent -= pieces[whole].Count;
        }

        pieces.RemoveRange(0, whole);
        if (sent > 0)
        {
            pieces[0] = pieces[0][sent..];
        }
    }

    // A task, after Close.
    private async Task LingerAsync()
    {
        using var limit = new CancellationTokenSource(LingerLimit);
        try
        {
            await _sending.WaitAsync(limit.Token);
            if (_socket.Connected)
            {
                _socket.Shutdown(SocketShutdown.Send);
                await _receiving.WaitAsync(limit.Token);
            }
        }
        catch (Exception failure) when (IsExpected(failure))
        {
            // Closed is closed; who cares for an answer waits for it before closing.
        }

        _socket.Dispose();
    }

    private void PostArrival()
    {
        if (Interlocked.Exchange(ref _isArrivalPosted, 1) == 0)
        {
            _streams.Post(_arrival);
        }
    }

    private void PostClosed(string reason) => _streams.Post(new ActionRequest(() => OnClosed(reason)));

    private void OnArrived()
    {
        // Cleared before the look, so that bytes which miss it are announced anew.
        Interlocked.Exchange(ref _isArrivalPosted, 0);
        if (_isClosed || !_input.Reader.TryRead(out var result))
        {
            return;
        }

        if (!result.Buffer.IsEmpty)
        {
            Offer(result.Buffer);
        }

        if (!_isClosed)
        {
            _input.Reader.AdvanceTo(result.Buffer.End);
        }
    }

    private void Offer(in ReadOnlySequence<byte> arrived)
    {
        bool isWhole = _held.Count == 0 && arrived.IsSingleSegment;
        if (!isWhole)
        {
            _held.Append(arrived);
        }

        var offered = isWhole ? arrived.FirstSpan : _held.Span;
        int consumed = -1;
        try
        {
            consumed = _handler!.OnBytes(this, offered);
        }
        finally
        {
            // An exception leaves consumed as it was, and nobody knows then where the next frame begins.
            if (consumed < 0 || consumed > offered.Length)
            {
                OnClosed("the stream's handler failed");
            }
        }

        if (_isClosed)
        {
            return;
        }

        if (!isWhole)
        {
            _held.Consume(consumed);
        }
        else if (consumed < offered.Length)
        {
            _held.Append(arrived.Slice(consumed));
        }

        if (_held.Count > HeldLimitBytes)
        {
            OnClosed($"the stream's handler left {_held.Count} bytes unread");
        }
    }

    private void OnClosed(string reason)
    {
        if (!_isClosed)
        {
            Close();
            _handler!.OnClosed(this, reason);
        }
    }

    private static bool IsExpected(Exception failure) =>
        failure is SocketException or ObjectDisposedException or OperationCanceledException;

    private sealed class Arrival(TcpControlStream stream) : Request
    {
        public override void Execute() => stream.OnArrived();
    }
}
