using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Quotas;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Service.Quotas;

// What all clients together leave unread.
public sealed class KeptBytesTests
{
    private const int Most = 200_000;

    private readonly LogRecorder _log = new();
    private readonly FakeCluster _cluster;

    public KeptBytesTests()
    {
        _cluster = new FakeCluster(new MembershipServiceOptions { Limits = new SessionLimits { MaxKeptBytesInAll = Most } }, logger: _log);
    }

    [Fact]
    public void Clients_that_do_not_read_have_a_limit_together_and_the_one_that_keeps_most_is_closed()
    {
        var nodes = _cluster.AddNodes(2);
        RawClient[] stalled = [Join(100, topics: 300), Join(101, topics: 300), Join(102, topics: 300)];
        Array.ForEach(stalled, raw => raw.Stream.Peer!.IsStalled = true);
        // Each snapshot of its topics is the client's alone.
        while (stalled[1].Stream.Peer!.PendingBytes < Most / 2)
        {
            Resync(stalled[1], 1);
        }

        for (int i = 0; i < 40 && _cluster.Counters.SessionsClosedForRoom == 0; i++)
        {
            Resync(stalled[i % 2 == 0 ? 0 : 2], 1);
        }

        Assert.Equal([false, true, false], stalled.Select(static raw => raw.IsClosed));
        Assert.Equal((1, 0), (_cluster.Counters.SessionsClosedForRoom, _cluster.Counters.SlowSessionsClosed));
        Assert.Contains(
            $"the service keeps more than {Most} bytes for all sessions, and most for this one, which does not read it", _log.TextOf(1209));
        Assert.True(nodes.All(static node => node.Client.IsReachable));
        nodes[0].Subscribe("A");
        _cluster.Run(1);
        Assert.True(nodes[0].Has("A"));
    }

    [Fact]
    public void Bytes_that_many_nodes_get_alike_count_once()
    {
        var nodes = _cluster.AddNodes(1);
        var stalled = Enumerable.Range(100, 30).Select(id => Join((ulong)id, topics: 0)).ToArray();
        _cluster.Run(0.5);
        Array.ForEach(stalled, raw => raw.Stream.Peer!.IsStalled = true);
        // A node that comes is announced to all in the same bytes.
        for (ulong id = 1_000; id < 1_500; id++)
        {
            _cluster.AddNode(id);
        }

        _cluster.World.RunUntil(() => nodes[0].Nodes.Count == 531);
        Assert.True(stalled.Sum(static raw => raw.Stream.Peer!.PendingBytes) > 2 * Most);
        Assert.Equal(0, _cluster.Counters.SessionsClosedForRoom);
        Assert.All(stalled, static raw => Assert.False(raw.IsClosed));
    }

    [Fact]
    public void Sent_bytes_are_forgotten_and_frames_count_until_the_last_session_has_sent_them()
    {
        var kept = new KeptBytes(new SessionLimits { MaxKeptBytesInAll = 100_000 });
        var frames = new SharedFrames(new byte[80_000]);
        var (one, other) = (new UnsentFrames(kept, before: 10), new UnsentFrames(kept, before: 0));
        one.Add(frames);
        other.Add(frames);
        Assert.Equal((40_000, 40_000), (one.Share, other.Share));
        one.Add(30_000);
        Assert.True(kept.IsExceeded);
        Assert.Equal(70_000, one.Share);

        // The frames are sent, and a part of what followed.
        Assert.True(one.Trim(20_000));
        Assert.Equal((20_000, 80_000), (one.Share, other.Share));
        Assert.False(kept.IsExceeded);
        other.Dispose();
        Assert.False(one.Trim(0));
        one.Add(100_000);
        Assert.False(kept.IsExceeded);
        one.Add(1);
        Assert.True(kept.IsExceeded);
    }

    [Fact]
    public void All_sessions_are_looked_at_only_when_much_has_come_since_the_last_look()
    {
        var kept = new KeptBytes(new SessionLimits { MaxKeptBytesInAll = 160_000 });
        kept.Add(160_000);
        Assert.False(kept.IsLookDue);
        kept.Add(1);
        Assert.True(kept.IsLookDue);
        kept.OnLooked();
        kept.Add(10_000);
        Assert.False(kept.IsLookDue);
        kept.Add(1);
        Assert.True(kept.IsLookDue);
    }

    private RawClient Join(ulong id, int topics)
    {
        var raw = new RawClient(_cluster, id);
        _cluster.World.RunUntil(() => raw.IsConnected);
        raw.Send(RawClient.Join(id));
        for (int i = 0; i < topics; i++)
        {
            raw.Send(new SetTopicMessage
            {
                RequestId = (ulong)i + 1,
                Topic = Requests.Topic($"topic {i} of the node {id}", TopicRole.Subscribe),
            });
        }

        raw.Send(SignalMessage.JoinComplete);
        _cluster.Run(0.2);
        return raw;
    }

    private void Resync(RawClient raw, int times)
    {
        for (int i = 0; i < times; i++)
        {
            raw.Send(KnownMessage.Resync(1));
        }

        _cluster.Run(0.01);
    }
}
