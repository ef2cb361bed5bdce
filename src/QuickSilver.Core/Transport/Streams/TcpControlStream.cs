using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Transport.Datagrams;

namespace QuickSilver.Core.Transport.Streams;

// A control stream over TCP, on the core thread alone: its socket's operations complete through the poller.
//
//   Connecting → Open → Closed     Closed by either side. What was queued is still sent (LingeringClose).
//   Connecting → Closed
//
// Invariants: at most one completion is taken and not handled, so at most MostReceivedBytes are read ahead of the handler, and TCP holds
// the peer back beyond that. What the handler was offered and left is not among these (it waits for the rest of its frame, so to stop
// reading then would be to stop forever); a handler that leaves more than HeldLimitBytes loses the stream.
[DebuggerDisplay("{RemoteEndPoint}")]
internal sealed class TcpControlStream : HandledStream
{
    // So much is sent in one step; the rest is the next step's.
    private const int SendBytes = 1 << 20;

    private readonly Socket _socket;
    private readonly ControlStreams _streams;
    private readonly StreamOutput _output;
    private readonly Flush _flush;
    private IStreamSocket? _operations;
    private StreamState _state;
    private IPAddress? _from;
    private bool _isCompletionTaken;
    private bool _isFlushDue;
    // The system took less than it was given: it is asked again when it has room.
    private bool _isSendUnderWay;
    // The last completion was of a send: what came has its turn.
    private bool _isReadingNext;

    private TcpControlStream(Socket socket, IPEndPoint remote, ControlStreams streams)
    {
        _socket = socket;
        _streams = streams;
        _output = new StreamOutput(streams.Scratch);
        _flush = new Flush(this);
        RemoteEndPoint = remote;
        streams.Add(this);
    }

    private enum StreamState
    {
        Connecting = 0,
        Open,
        Closed,
    }

    public override IPEndPoint? RemoteEndPoint { get; }

    public override long PendingBytes => _output.PendingBytes;

    public override bool IsClosed => _state == StreamState.Closed;

    /// <summary>Connects from this address: the stream goes the way that datagrams go, and shows whether there is one.</summary>
    internal static TcpControlStream Connect(IPAddress local, IPEndPoint remote, IControlStreamHandler handler, ControlStreams streams)
    {
        var socket = SmallSegments.Open(remote.AddressFamily);
        socket.NoDelay = true;
        var stream = new TcpControlStream(socket, remote, streams) { Handler = handler, _from = local };
        stream._operations = streams.Host.Poller.OpenStream(socket, stream);
        stream._operations.Connect(OriginOf(local, remote), remote);
        return stream;
    }

    /// <summary>From where a node at this address connects; null: from where the system chooses.</summary>
    internal static IPEndPoint? OriginOf(IPAddress local, IPEndPoint remote)
    {
        // A service on this machine may be named by its loopback address by a node that is on another interface.
        bool isBound = local.AddressFamily == remote.AddressFamily
            && !local.Equals(IPAddress.Any) && !local.Equals(IPAddress.IPv6Any)
            && IPAddress.IsLoopback(local) == IPAddress.IsLoopback(remote.Address);
        return isBound ? new IPEndPoint(local, 0) : null;
    }

    /// <summary>Null when the peer is gone already; then the socket stays the caller's.</summary>
    internal static TcpControlStream? TryAccept(Socket socket, ControlStreams streams)
    {
        try
        {
            socket.NoDelay = true;
            socket.Blocking = false;
            return socket.RemoteEndPoint is IPEndPoint remote
                ? new TcpControlStream(socket, remote, streams) { _state = StreamState.Open }
                : null;
        }
        catch (SocketException)
        {
            return null;
        }
    }

    /// <summary>Starts an accepted stream, unless the acceptor has closed it already.</summary>
    internal void Begin(IControlStreamHandler handler)
    {
        Handler = handler;
        if (!IsClosed)
        {
            _operations = _streams.Host.Poller.OpenStream(_socket, this);
        }
    }

    public override void Send(ReadOnlySpan<byte> bytes)
    {
        if (!IsClosed && !bytes.IsEmpty)
        {
            SendShared(bytes.ToArray());
        }
    }

    public override void SendShared(byte[] bytes)
    {
        if (IsClosed || bytes.Length == 0)
        {
            return;
        }

        _output.Add(bytes);
        // At the end of the turn, as more may follow.
        if (!_isFlushDue)
        {
            _isFlushDue = true;
            _streams.Host.Defer(WorkClass.OutboundControl, _flush);
        }
    }

    public override void Close()
    {
        if (!IsClosed)
        {
            bool wasConnected = _state != StreamState.Connecting;
            _state = StreamState.Closed;
            _operations?.Close();
            DropHeld();
            // Where few descriptors are left, none is held for a peer that is sent nothing more.
            if (wasConnected && !(_streams.Descriptors is { IsShort: true } && _output.IsEmpty))
            {
                _streams.Remove(this, _streams.Linger(_socket, _output.TakeRest()));
            }
            else
            {
                _socket.Dispose();
                _streams.Remove(this, Task.CompletedTask);
            }
        }
    }

    public override TakeOutcome TryTake(RunMemory memory, out Completion completion)
    {
        completion = default;
        if (_isCompletionTaken || IsClosed || _operations is null)
        {
            return TakeOutcome.Nothing;
        }

        completion = _state == StreamState.Connecting ? TakeConnected()
            : !_isSendUnderWay ? TakeBytes()
            : _isReadingNext ? Either(TakeBytes(), TakeSent)
            : Either(TakeSent(), TakeBytes);
        _isReadingNext = completion.Kind == CompletionKind.Sent;
        _isCompletionTaken = completion.Kind != CompletionKind.None;
        return _isCompletionTaken ? TakeOutcome.Taken : TakeOutcome.Nothing;
    }

    public override void OnCompletion(in Completion completion)
    {
        _isCompletionTaken = false;
        switch (completion.Kind)
        {
            case CompletionKind.Connected:
                _state = StreamState.Open;
                Handler!.OnConnected(this);
                SendQueued();
                break;
            case CompletionKind.Bytes:
                Offer();
                break;
            case CompletionKind.Sent:
                SendQueued();
                break;
            case CompletionKind.Ended:
                OnClosed("the peer closed the stream");
                break;
            case CompletionKind.Error when _state == StreamState.Connecting:
                OnClosed($"cannot connect to {RemoteEndPoint} from {_from}: {StreamFailure.InWords((SocketError)completion.Value)}");
                break;
            case CompletionKind.Error:
                OnClosed(StreamFailure.Of((SocketError)completion.Value));
                break;
        }
    }

    public override string ToString() => $"stream to {RemoteEndPoint}";

    private static Completion Either(in Completion first, Func<Completion> other) =>
        first.Kind != CompletionKind.None ? first : other();

    private Completion TakeConnected()
    {
        if (!_operations!.TryTakeConnected(out var error))
        {
            return default;
        }

        return error == SocketError.Success ? new Completion(this, CompletionKind.Connected) : Error(error);
    }

    private Completion TakeSent()
    {
        int sent = SendSome(out var error);
        return error != SocketError.Success ? Error(error) : sent > 0 ? new Completion(this, CompletionKind.Sent, sent) : default;
    }

    private Completion TakeBytes()
    {
        int received = _operations!.Receive(_streams.Scratch, out var error);
        if (received > 0)
        {
            Hold(_streams.Scratch.AsSpan(0, received));
            return new Completion(this, CompletionKind.Bytes, received);
        }

        return error switch
        {
            SocketError.Success => new Completion(this, CompletionKind.Ended),
            SocketError.WouldBlock => default,
            _ => Error(error),
        };
    }

    private Completion Error(SocketError error) => new(this, CompletionKind.Error, (int)error);

    private int SendSome(out SocketError error)
    {
        int sent = _output.Send(_operations!, SendBytes, out error);
        _isSendUnderWay = !_output.IsEmpty && error == SocketError.Success && sent < SendBytes;
        return sent;
    }

    private void SendQueued()
    {
        if (_state != StreamState.Open || _operations is null || _isSendUnderWay || _output.IsEmpty)
        {
            return;
        }

        SendSome(out var error);
        if (error != SocketError.Success)
        {
            OnClosed(StreamFailure.Of(error));
        }
        else if (!_isSendUnderWay && !_output.IsEmpty && !_isFlushDue)
        {
            _isFlushDue = true;
            _streams.Host.Defer(WorkClass.OutboundControl, _flush);
        }
    }

    private sealed class Flush(TcpControlStream stream) : Request
    {
        public override void Execute()
        {
            stream._isFlushDue = false;
            stream.SendQueued();
        }

        public override string ToString() => $"output of {stream}";
    }
}
