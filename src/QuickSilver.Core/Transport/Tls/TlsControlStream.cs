using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport.Datagrams;
using QuickSilver.Core.Transport.Streams;

namespace QuickSilver.Core.Transport.Tls;

// A control stream over TLS, as the core thread has it. Its bytes come from the connection, which is on the stream thread.
//
//   Beginning → Open → Closed      Beginning: it connects, or the handshake is under way.
//   Beginning → Closed
//
// Invariants: as those of TcpControlStream. An accepted stream has no handler, and no owner, until the handshake is over.
[DebuggerDisplay("{RemoteEndPoint}")]
internal sealed class TlsControlStream : HandledStream
{
    private readonly ControlStreams _streams;
    private readonly TlsConnection _connection;
    private readonly TlsSide _side;
    private readonly ITlsAdmission? _admission;
    private StreamState _state;
    private bool _isCompletionTaken;

    private TlsControlStream(
        Socket socket, IPEndPoint remote, TlsSide side, ControlStreams streams, IControlStreamHandler? handler, ITlsAdmission? admission)
    {
        RemoteEndPoint = remote;
        _side = side;
        _streams = streams;
        Handler = handler;
        _admission = admission;
        _connection = new TlsConnection(socket, side, streams.Credentials!, () => streams.Host.Poller.Post(this));
        streams.Add(this);
        _connection.Begin();
    }

    private enum StreamState
    {
        Beginning = 0,
        Open,
        Closed,
    }

    public override IPEndPoint? RemoteEndPoint { get; }

    public override PeerIdentity? Peer => _state == StreamState.Beginning ? null : _side.Peer;

    public override PeerCertificate? PeerCertificate => _state == StreamState.Beginning ? null : _side.PeerCertificate;

    public override KeyFault KeyFault => _connection.End is null ? KeyFault.None : _side.KeyFault;

    public override long PendingBytes => _connection.PendingBytes;

    public override bool IsClosed => _state == StreamState.Closed;

    /// <summary>Connects from this address: the stream goes the way that datagrams go.</summary>
    internal static TlsControlStream Connect(
        IPAddress local, IPEndPoint remote, IControlStreamHandler handler, ControlStreams streams)
    {
        var socket = SmallSegments.Open(remote.AddressFamily);
        socket.NoDelay = true;
        return new TlsControlStream(socket, remote, new TlsClientSide(local, remote), streams, handler, admission: null);
    }

    /// <summary>Begins the handshake with the peer that has connected; the admission is notified of its end.</summary>
    internal static TlsControlStream Accept(Socket socket, IPEndPoint remote, ITlsAdmission admission, ControlStreams streams) =>
        new(socket, remote, new TlsServerSide(remote), streams, handler: null, admission);

    public override void Send(ReadOnlySpan<byte> bytes)
    {
        if (!IsClosed && !bytes.IsEmpty)
        {
            _connection.Send(bytes.ToArray());
        }
    }

    public override void SendShared(byte[] bytes)
    {
        if (!IsClosed && bytes.Length > 0)
        {
            _connection.Send(bytes);
        }
    }

    public override void Close()
    {
        if (!IsClosed)
        {
            bool wasAdmitted = _state == StreamState.Open;
            _state = StreamState.Closed;
            DropHeld();
            _connection.Close();
            _streams.Remove(this, _connection.Run);
            if (!wasAdmitted)
            {
                _admission?.OnLeft(this, hasFailed: false);
            }
        }
    }

    public override TakeOutcome TryTake(RunMemory memory, out Completion completion)
    {
        completion = default;
        if (_isCompletionTaken || IsClosed)
        {
            return TakeOutcome.Nothing;
        }

        completion = Next();
        _isCompletionTaken = completion.Kind != CompletionKind.None;
        return _isCompletionTaken ? TakeOutcome.Taken : TakeOutcome.Nothing;
    }

    public override void OnCompletion(in Completion completion)
    {
        _isCompletionTaken = false;
        switch (completion.Kind)
        {
            case CompletionKind.Connected:
                OnOpened();
                break;
            case CompletionKind.Bytes:
                OnPiece();
                break;
            case CompletionKind.Ended when _state == StreamState.Beginning && _admission is not null:
                OnNotAdmitted(_connection.End!);
                break;
            case CompletionKind.Ended:
                OnClosed(_connection.End!);
                break;
        }

        if (!IsClosed && Next().Kind != CompletionKind.None)
        {
            _streams.Host.Poller.Post(this);
        }
    }

    /// <summary>It ended before its peer had sent a byte.</summary>
    public bool WasSilent => _connection.WasSilent;

    /// <summary>Whether its peer would be admitted again.</summary>
    public bool IsStillKnownTo(TlsCredentials credentials) => credentials.Believes(_side.Root);

    /// <summary>Ends it, and notifies its handler.</summary>
    public void End(string reason) => OnClosed(reason);

    public override string ToString() => $"TLS stream to {RemoteEndPoint}";

    private Completion Next() =>
        _state == StreamState.Beginning && _connection.IsOpen ? new Completion(this, CompletionKind.Connected)
        : _connection.HasPiece ? new Completion(this, CompletionKind.Bytes)
        : _connection.End is not null ? new Completion(this, CompletionKind.Ended)
        : default;

    private void OnOpened()
    {
        _state = StreamState.Open;
        if (_admission is null)
        {
            Handler!.OnConnected(this);
            return;
        }

        try
        {
            _admission.OnLeft(this, hasFailed: false);
            Handler = _admission.OnIdentified(this);
        }
        finally
        {
            if (Handler is null)
            {
                Close();
            }
        }
    }

    private void OnNotAdmitted(string reason)
    {
        _admission!.OnLeft(this, hasFailed: !WasSilent);
        _state = StreamState.Open;
        Close();
        _admission.OnRefused(this, reason);
    }

    private void OnPiece()
    {
        Hold(_connection.Piece);
        _connection.Release();
        Offer();
    }
}

// Of a listener: admits streams when their peers have proved their identity.
internal interface ITlsAdmission
{
    /// <summary>The handshake is over, or given up. Said once.</summary>
    void OnLeft(TlsControlStream stream, bool hasFailed);

    /// <summary>The handler of a stream whose peer is known; null refuses it.</summary>
    IControlStreamHandler? OnIdentified(TlsControlStream stream);

    /// <summary>The handshake failed.</summary>
    void OnRefused(TlsControlStream stream, string reason);
}
