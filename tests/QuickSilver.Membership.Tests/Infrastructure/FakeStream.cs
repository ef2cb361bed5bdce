using System.Net;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport;

namespace QuickSilver.Membership.Tests.Infrastructure;

// One end of an in-memory stream. Bytes travel for the world's latency, in order, and wait while the path is blocked.
internal sealed class FakeStream(FakeEnvironment owner, IPEndPoint? remote) : IControlStream
{
    private static readonly TimeSpan KnockAgain = TimeSpan.FromSeconds(1);

    private readonly Queue<byte[]> _sent = new();
    private byte[] _unread = [];
    private FakeStream? _peer;
    private PeerCertificate? _shown;
    private bool _isClosed;

    public IControlStreamHandler? Handler { get; set; }

    public IPEndPoint? RemoteEndPoint { get; } = remote;

    public long PendingBytes { get; private set; }

    // The network takes no more from this end.
    public bool IsStalled { get; set; }

    public FakeStream? Peer => _peer;

    PeerIdentity? IControlStream.Peer =>
        _peer is { Owner.Identity: { } name } ? new PeerIdentity(name, owner.World.IdentitiesAreShared) : null;

    PeerCertificate? IControlStream.PeerCertificate => _peer?._shown;

    public void Establish(IPEndPoint target)
    {
        if (_isClosed || owner.IsCrashed)
        {
            return;
        }

        _shown = owner.CertificateUntil is { } until ? new PeerCertificate(owner.Identity ?? "", DateTimeOffset.MinValue, until) : null;
        var found = owner.World.Listeners.GetValueOrDefault(target);
        if (found is not null && IsCutFrom(found.Owner))
        {
            // Neither refused nor accepted: the system knocks again, until the handler gives up.
            owner.World.After(KnockAgain, () => owner.Do(() => Establish(target)));
            return;
        }

        if (found is null)
        {
            Break("connection refused");
            return;
        }

        var far = new FakeStream(found.Owner, new IPEndPoint(owner.LocalAddress, 1));
        found.Owner.Track(far);
        found.Owner.Do(() =>
        {
            far._peer = this;
            far.Handler = found.Acceptor.OnAccept(far);
            if (far.Handler is null)
            {
                Break("connection reset");
                return;
            }

            _peer = far;
            owner.Do(() => Handler!.OnConnected(this));
        });
    }

    public void Send(ReadOnlySpan<byte> bytes)
    {
        if (_isClosed || bytes.IsEmpty)
        {
            return;
        }

        _sent.Enqueue(bytes.ToArray());
        PendingBytes += bytes.Length;
        owner.World.After(FakeWorld.Latency, Deliver);
    }

    public void SendShared(byte[] bytes) => Send(bytes);

    public void Close()
    {
        if (!_isClosed)
        {
            _isClosed = true;
            var peer = _peer;
            owner.World.After(FakeWorld.Latency, () => peer?.Break("closed by the other end"));
        }
    }

    /// <summary>The network ends this stream for both ends, and each is notified.</summary>
    public void BreakBothEnds(string reason = "connection reset")
    {
        var peer = _peer;
        Break(reason);
        peer?.Break(reason);
    }

    public void Break(string reason)
    {
        if (_isClosed)
        {
            return;
        }

        _isClosed = true;
        _peer?.Break(reason);
        owner.World.After(TimeSpan.Zero, () => owner.Do(() => Handler?.OnClosed(this, reason)));
    }

    private void Deliver()
    {
        if (_peer is not { } peer || _sent.Count == 0)
        {
            return;
        }

        if (IsStalled || IsCutFrom(peer.Owner))
        {
            owner.World.After(TimeSpan.FromMilliseconds(50), Deliver);
            return;
        }

        byte[] bytes = _sent.Dequeue();
        PendingBytes -= bytes.Length;
        peer.Owner.Do(() => peer.Receive(bytes));
    }

    private FakeEnvironment Owner => owner;

    private void Receive(byte[] bytes)
    {
        if (!_isClosed && !owner.World.IsSkipped(bytes))
        {
            byte[] all = [.. _unread, .. bytes];
            int consumed = Handler!.OnBytes(this, all);
            _unread = all[consumed..];
        }
    }

    private bool IsCutFrom(FakeEnvironment other) => owner.World.IsBlocked(owner, other) || owner.World.IsStreamBlocked(owner, other);
}
