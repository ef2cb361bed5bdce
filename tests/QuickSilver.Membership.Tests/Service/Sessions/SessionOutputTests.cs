using System.Net;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Quotas;
using QuickSilver.Membership.Service.Sessions;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Service.Sessions;

public sealed class SessionOutputTests : SessionOutput.IOwner
{
    private const int MostOfOne = 100_000;
    private const int MostOfAll = 150_000;

    private readonly SessionContext _context = new(
        new FakeWorld().AddNode(seed: 1),
        new SessionLimits { MaxPendingBytes = MostOfOne, MaxKeptBytesInAll = MostOfAll },
        new ServiceCounters(),
        NullLogger.Instance);
    private readonly UnreadStream _stream = new();
    private readonly SessionOutput _output;
    private int _unread;
    private int _muchKept;

    public SessionOutputTests() => _output = new SessionOutput(_context, _stream, this);

    void SessionOutput.IOwner.OnUnread() => _unread++;

    void SessionOutput.IOwner.OnMuchKept() => _muchKept++;

    [Fact]
    public void A_few_bytes_that_wait_are_not_counted()
    {
        _output.Send(SignalMessage.Left);

        Assert.True(_stream.PendingBytes > 0);
        Assert.Equal(0, _output.Share);
    }

    [Fact]
    public void Waiting_bytes_count_until_they_are_sent()
    {
        _output.SendShared(Frames(50_000));
        Assert.Equal(50_000, _output.Share);

        _stream.PendingBytes = 0;
        _output.ForgetSent();
        Assert.Equal(0, _output.Share);
    }

    [Fact]
    public void Bytes_that_two_sessions_send_alike_count_for_each_by_half()
    {
        var other = new SessionOutput(_context, new UnreadStream(), this);
        var frames = Frames(50_000);
        _output.SendShared(frames);
        other.SendShared(frames);

        Assert.Equal((25_000, 25_000), (_output.Share, other.Share));
    }

    [Fact]
    public void A_client_that_does_not_read_is_reported_above_its_limit_only()
    {
        _output.SendShared(Frames(MostOfOne));
        Assert.Equal(0, _unread);

        _output.SendShared(Frames(1));
        Assert.Equal(1, _unread);
    }

    [Fact]
    public void The_bytes_of_all_sessions_are_reported_above_the_limit_of_all()
    {
        var other = new SessionOutput(_context, new UnreadStream(), this);
        _output.SendShared(Frames(MostOfOne));
        Assert.Equal(0, _muchKept);

        other.SendShared(Frames(MostOfOne));
        Assert.Equal((1, 0), (_muchKept, _unread));
    }

    [Fact]
    public void After_the_end_nothing_is_sent_and_nothing_counts()
    {
        _output.SendShared(Frames(MostOfOne));
        _output.End();
        Assert.Equal(0, _output.Share);

        _output.SendShared(Frames(1_000));
        _output.Send(SignalMessage.Left);
        Assert.Equal(MostOfOne, _stream.PendingBytes);

        new SessionOutput(_context, new UnreadStream(), this).SendShared(Frames(MostOfOne));
        Assert.Equal(0, _muchKept);
    }

    private static SharedFrames Frames(int length) => new(new byte[length]);

    // A stream whose other end reads nothing.
    private sealed class UnreadStream : IControlStream
    {
        public long PendingBytes { get; set; }

        public IPEndPoint? RemoteEndPoint => null;

        public PeerIdentity? Peer => null;

        public void Send(ReadOnlySpan<byte> bytes) => PendingBytes += bytes.Length;

        public void SendShared(byte[] bytes) => PendingBytes += bytes.Length;

        public void Close()
        {
        }
    }
}
