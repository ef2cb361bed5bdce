using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Background;
using QuickSilver.Core.Transport.Streams;

namespace QuickSilver.Core.Transport.Tls;

// The handshakes of a listener. The acceptor gets a stream when the identity of its peer is known, and only the reason if a handshake
// fails. When a secret or an authority is taken away, the streams that were admitted by it end.
internal sealed class TlsAdmission(IStreamCredentials credentials, IControlAcceptor acceptor, ControlStreams streams) : ITlsAdmission
{
    /// <summary>The reason that the handler of a stream gets when what its peer had proved itself with was taken away.</summary>
    public const string NotAcceptedAnyMore = "the secret or authority that it proved itself with is not accepted any more";

    private static readonly TimeSpan LookInterval = TimeSpan.FromSeconds(2);

    private readonly TlsGate<TlsControlStream> _gate = new(TimeProvider.System);
    private readonly HashSet<TlsControlStream> _admitted = [];
    private TlsCredentials _known = credentials.Latest;
    private Task<TlsCredentials>? _look;
    private bool _isLooking;
    private bool _isClosed;

    /// <summary>Begins the handshake with a new connection, unless there is no room for it. Another may have to give way to it.</summary>
    public void Accept(Socket socket)
    {
        Look();
        if (RemoteOf(socket) is not { } remote)
        {
            socket.Dispose();
            return;
        }

        if (_gate.Refuse(remote.Address, out var displaced) is { } reason)
        {
            socket.Dispose();
            acceptor.OnRefused(remote, reason, StreamRefusal.NoRoom);
            return;
        }

        if (displaced is not null)
        {
            string most = $"{TlsGate<TlsControlStream>.MostUnderWay} handshakes were under way";
            string which = $"this one, the oldest of {displaced.RemoteEndPoint!.Address}";
            Displace(displaced, $"{most}, and {which}, gave way to that of another address");
        }

        _gate.Enter(remote.Address, TlsControlStream.Accept(socket, remote, this, streams));
    }

    /// <summary>Few descriptors are left: a handshake gives way to a newcomer, or else a stream that has shown nothing.</summary>
    public void MakeRoomFor(IPEndPoint newcomer, string shortage)
    {
        if (_gate.FindOldest(newcomer.Address) is { RemoteEndPoint.Address: var address } oldest)
        {
            Displace(oldest, $"{shortage}, and this handshake, the oldest of {address}, gave way to another one");
        }
        else
        {
            acceptor.OnFewDescriptors(newcomer);
        }
    }

    /// <summary>No more connections come. The acceptor still hears of the handshakes that are under way: it may have a last word.</summary>
    public void Close() => _isClosed = true;

    void ITlsAdmission.OnLeft(TlsControlStream stream, bool hasFailed) => _gate.Leave(stream, hasFailed);

    IControlStreamHandler? ITlsAdmission.OnIdentified(TlsControlStream stream)
    {
        if (acceptor.OnAccept(stream) is not { } handler)
        {
            return null;
        }

        _admitted.RemoveWhere(static one => one.IsClosed);
        _admitted.Add(stream);
        return handler;
    }

    void ITlsAdmission.OnRefused(TlsControlStream stream, string reason) =>
        acceptor.OnRefused(stream.RemoteEndPoint!, reason, stream.WasSilent ? StreamRefusal.Silent : StreamRefusal.Failed);

    private void Displace(TlsControlStream oldest, string reason)
    {
        oldest.Close();
        acceptor.OnRefused(oldest.RemoteEndPoint!, reason, StreamRefusal.Displaced);
    }

    // Null: the peer is gone already.
    private static IPEndPoint? RemoteOf(Socket socket)
    {
        try
        {
            socket.NoDelay = true;
            return socket.RemoteEndPoint as IPEndPoint;
        }
        catch (SocketException)
        {
            return null;
        }
    }

    // Files are read on a thread beside this, and what came of it is seen at the next look.
    private void Look()
    {
        if (_isLooking || credentials is FixedCredentials)
        {
            return;
        }

        _isLooking = true;
        _look = Detached.RunOnThread("QuickSilver files", credentials.Refresh);
        streams.Host.After(LookInterval, Looked);
    }

    private void Looked()
    {
        _isLooking = false;
        if (_isClosed)
        {
            return;
        }

        if (_look is { IsCompletedSuccessfully: true } && credentials.Latest != _known)
        {
            _known = credentials.Latest;
            foreach (var stream in _admitted.Where(stream => !stream.IsClosed && !stream.IsStillKnownTo(_known)).ToArray())
            {
                stream.End(NotAcceptedAnyMore);
            }
        }

        _admitted.RemoveWhere(static one => one.IsClosed);
        if (_admitted.Count > 0)
        {
            Look();
        }
    }
}
