using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Transport.Datagrams;
using QuickSilver.Core.Transport.Descriptors;
using QuickSilver.Core.Transport.Tls;

namespace QuickSilver.Core.Transport.Streams;

// Accepts control streams, one at each completion; those that come meanwhile wait in the kernel.
internal sealed class TcpControlListener : CompletionSource, IControlListener
{
    private const int Backlog = 512;
    // Doubled while the system continues to refuse: connections in the backlog are not lost.
    private static readonly TimeSpan FirstRetry = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan LastRetry = TimeSpan.FromSeconds(1);

    private readonly Socket _socket;
    private readonly IControlAcceptor _acceptor;
    private readonly ControlStreams _streams;
    private readonly IAcceptSocket _operations;
    // Null: streams are TCP alone.
    private readonly TlsAdmission? _admission;
    // Taken and not handled yet.
    private Socket? _accepted;
    private TimeSpan _retry = FirstRetry;
    private long _failures;
    private bool _isPaused;
    private bool _isClosed;

    private TcpControlListener(Socket socket, IControlAcceptor acceptor, ControlStreams streams)
    {
        _socket = socket;
        _acceptor = acceptor;
        _streams = streams;
        LocalEndPoint = (IPEndPoint)socket.LocalEndPoint!;
        _operations = streams.Host.Poller.OpenListener(socket, this);
        _admission = streams.Credentials is { } credentials ? new TlsAdmission(credentials.Source, acceptor, streams) : null;
    }

    public IPEndPoint LocalEndPoint { get; }

    public override bool IsClosed => _isClosed;

    public static TcpControlListener Open(IPEndPoint local, IControlAcceptor acceptor, ControlStreams streams)
    {
        Socket? socket = null;
        try
        {
            socket = SmallSegments.Open(local.AddressFamily);
            socket.Bind(local);
            socket.Listen(Backlog);
        }
        catch (SocketException refusal)
        {
            socket?.Dispose();
            throw new TransportException($"Cannot listen at {local}: {InWords(refusal, local.Port)}", refusal);
        }

        return new TcpControlListener(socket, acceptor, streams);
    }

    private static string InWords(SocketException refusal, int port) => refusal.SocketErrorCode switch
    {
        SocketError.AddressAlreadyInUse =>
            $"{PortHolder.OfListener(port) ?? "another program, which the system does not name,"} listens there. End it, or choose another "
            + "port.",
        SocketError.AddressNotAvailable =>
            "no interface of this machine has this address. Choose an address of this machine, such as 'ip address' shows.",
        SocketError.AccessDenied => $"this user may not listen at the port {port}. Choose a port above 1023.",
        _ => $"{refusal.Message}. Choose another address or port.",
    };

    public void Dispose()
    {
        if (!_isClosed)
        {
            _isClosed = true;
            _streams.Remove(this);
            _operations.Close();
            _socket.Dispose();
            _accepted?.Dispose();
            _accepted = null;
            _admission?.Close();
        }
    }

    public override TakeOutcome TryTake(RunMemory memory, out Completion completion)
    {
        completion = default;
        if (_isClosed || _isPaused || _accepted is not null)
        {
            return TakeOutcome.Nothing;
        }

        _accepted = _operations.TryAccept(out var error);
        if (_accepted is not null)
        {
            completion = new Completion(this, CompletionKind.Accepted);
            return TakeOutcome.Taken;
        }

        if (error == SocketError.WouldBlock)
        {
            return TakeOutcome.Nothing;
        }

        // Out of descriptors, or the peer was gone already: neither ends the listener. The system would name it again at once.
        _isPaused = true;
        _operations.Pause(isPaused: true);
        completion = new Completion(this, CompletionKind.Error, (int)error);
        return TakeOutcome.Taken;
    }

    public override void OnCompletion(in Completion completion)
    {
        if (completion.Kind == CompletionKind.Error)
        {
            OnFailed((SocketError)completion.Value);
            return;
        }

        (_failures, _retry) = (0, FirstRetry);
        var accepted = _accepted!;
        _accepted = null;
        if (!HasDescriptor(accepted))
        {
            accepted.Dispose();
            return;
        }

        if (_admission is not null)
        {
            _admission.Accept(accepted);
            return;
        }

        // Its peer may be gone already, and then it has no address any more.
        if (TcpControlStream.TryAccept(accepted, _streams) is not { } stream)
        {
            accepted.Dispose();
            return;
        }

        IControlStreamHandler? handler = null;
        try
        {
            handler = _acceptor.OnAccept(stream);
        }
        finally
        {
            if (handler is null)
            {
                stream.Close();
            }
            else
            {
                stream.Begin(handler);
            }
        }
    }

    public override string ToString() => $"listener at {LocalEndPoint}";

    // Where few are left, another connection gives way. One that has a descriptor which the process keeps for itself is closed all the
    // same.
    private bool HasDescriptor(Socket accepted)
    {
        if (_streams.Descriptors is not { } descriptors)
        {
            return true;
        }

        descriptors.OnOpened((int)accepted.Handle);
        if (!descriptors.IsShort || RemoteOf(accepted) is not { } remote)
        {
            return !descriptors.IsSpent;
        }

        if (_admission is null)
        {
            _acceptor.OnFewDescriptors(remote);
        }
        else if (!descriptors.IsSpent)
        {
            // Handshakes that gave way take a moment to close. Those that are left must not give way for it.
            _admission.MakeRoomFor(remote, descriptors.Shortage);
        }

        if (descriptors.IsSpent)
        {
            _acceptor.OnRefused(remote, descriptors.Shortage, StreamRefusal.NoRoom);
        }

        return !descriptors.IsSpent;
    }

    // Null: the peer is gone already.
    private static IPEndPoint? RemoteOf(Socket accepted)
    {
        try
        {
            return accepted.RemoteEndPoint as IPEndPoint;
        }
        catch (SocketException)
        {
            return null;
        }
    }

    private void OnFailed(SocketError error)
    {
        if (long.IsPow2(++_failures))
        {
            CoreLog.AcceptFailed(
                _streams.Host.Logger, LocalEndPoint, DescriptorRoom.InWords(new SocketException((int)error), _streams.Descriptors));
        }

        _streams.Host.After(_retry, Resume);
        _retry = _retry * 2 < LastRetry ? _retry * 2 : LastRetry;
    }

    private void Resume()
    {
        if (!_isClosed)
        {
            _isPaused = false;
            _operations.Pause(isPaused: false);
        }
    }
}
