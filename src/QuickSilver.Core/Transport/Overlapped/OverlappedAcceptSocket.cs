using System.Net.Sockets;

namespace QuickSilver.Core.Transport.Overlapped;

// A listening socket with one accept under way, into a socket that was made for it.
internal sealed unsafe class OverlappedAcceptSocket : IAcceptSocket, IOverlappedOwner
{
    // Two addresses, each of at least 16 bytes more than the system's longest.
    private const int AddressesBytes = 128;

    private readonly CompletionPortPoller _poller;
    private readonly Socket _socket;
    private readonly AcceptOperation _accept;
    // Why no accept could be begun.
    private SocketError _refusal;
    private bool _isPaused;
    private bool _isClosed;

    public OverlappedAcceptSocket(CompletionPortPoller poller, Socket socket, CompletionSource source)
    {
        _poller = poller;
        _socket = socket;
        Source = source;
        _accept = new AcceptOperation(this, socket);
        BeginAccept();
    }

    public CompletionSource Source { get; }

    public bool IsDue => !_isClosed && !_isPaused && (_accept.IsEnded || _refusal != SocketError.Success);

    public void OnEnded(OverlappedOperation operation)
    {
    }

    public Socket? TryAccept(out SocketError error)
    {
        error = _refusal;
        if (_refusal != SocketError.Success)
        {
            _refusal = SocketError.Success;
            return null;
        }

        if (!_accept.IsEnded)
        {
            error = SocketError.WouldBlock;
            if (_accept.IsIdle)
            {
                BeginAccept();
            }

            return null;
        }

        _accept.Take();
        error = _accept.Error;
        var into = _accept.TakeInto();
        Socket? accepted = null;
        if (error == SocketError.Success)
        {
            accepted = Finish(into, ref error);
        }
        else
        {
            into.Dispose();
        }

        BeginAccept();
        return accepted;
    }

    public void Pause(bool isPaused)
    {
        _isPaused = isPaused;
        if (!isPaused && !_isClosed)
        {
            if (_accept.IsIdle)
            {
                BeginAccept();
            }

            _poller.NoteDue(this);
        }
    }

    public void Close()
    {
        if (!_isClosed)
        {
            _isClosed = true;
            _poller.End(_accept);
        }
    }

    public override string ToString() => Source.ToString()!;

    private Socket? Finish(Socket into, ref SocketError error)
    {
        try
        {
            return _poller.Calls.Accepted(_socket, into);
        }
        catch (SocketException failure)
        {
            into.Dispose();
            error = failure.SocketErrorCode;
            return null;
        }
    }

    private void BeginAccept()
    {
        try
        {
            _accept.Into = new Socket(_socket.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        }
        catch (SocketException refusal)
        {
            Refuse(refusal.SocketErrorCode);
            return;
        }

        _poller.Begin(_accept);
        var answer = _poller.Calls.Accept(_socket, _accept.Into, _accept.Extra, _accept.Header);
        if (!_poller.HasBegun(_accept, answer))
        {
            _accept.TakeInto().Dispose();
            Refuse(answer);
        }
        else if (_accept.IsEnded)
        {
            _poller.NoteDue(this);
        }
    }

    private void Refuse(SocketError error)
    {
        _refusal = error;
        _poller.NoteDue(this);
    }

    private sealed class AcceptOperation(IOverlappedOwner owner, Socket socket) : OverlappedOperation(owner, socket, AddressesBytes)
    {
        /// <summary>The socket that is to be the accepted one; the system's while the operation is under way.</summary>
        public Socket? Into { get; set; }

        public Socket TakeInto()
        {
            var into = Into!;
            Into = null;
            return into;
        }

        protected override void OnFreed() => Into?.Dispose();
    }
}
