using System.Net;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Service.Sessions;

// A configuration that takes several messages, as a client reads it.
public sealed class ConfigurationPartsTests
{
    [Fact]
    public void A_configuration_in_many_parts_is_read_as_one()
    {
        var frames = new ControlBuffer();
        var writer = new ConfigurationWriter(frames, maxPartBytes: 100);
        writer.Begin(new ConfigurationHeader(5, 4, IsSnapshot: true, LastRequest: 9));
        for (ulong id = 1; id <= 50; id++)
        {
            ulong[] regions = [id, id + 1];
            writer.Add(new TopicView
            {
                TopicId = id,
                Configuration = 5,
                Regions = [.. regions],
                Subscribed = true,
                Routed = true,
                Subscribers = 3,
            });
        }

        for (ulong id = 1; id <= 50; id++)
        {
            writer.AddOutOfSight(1000 + id);
        }

        writer.End(isLast: true);
        var assembler = new ConfigurationAssembler();
        ConfigurationMessage? whole = null;
        int parts = 0;
        for (var rest = frames.Written; !rest.IsEmpty; parts++)
        {
            Assert.Null(whole);
            Assert.Equal(FrameOutcome.Complete, ControlFrame.TryCut(rest, 4096, out _, out var body, out int length));
            Assert.True(assembler.TryAdd(ConfigurationMessage.Read(body), out whole));
            rest = rest[length..];
        }

        Assert.True(parts > 10);
        Assert.Equal(Enumerable.Range(1, 50).Select(id => (ulong)id), whole!.Content.Topics.Select(view => view.TopicId));
        Assert.Equal([50UL, 51], whole.Content.Topics[^1].Regions.AsEnumerable());
        Assert.Equal(Enumerable.Range(1001, 50).Select(id => (ulong)id), whole.Content.OutOfSight);
        Assert.Equal((5, 4, true, 9UL), (whole.Number, whole.Previous, whole.IsSnapshot, whole.LastRequest));
    }

    [Fact]
    public void Nodes_with_one_cache_share_one_copy_of_equal_state()
    {
        var cache = new ConfigurationCache();
        byte[] first = Part(number: 5, firstId: 1);
        byte[] second = Part(number: 5, firstId: 100);
        var one = cache.Read(first);
        var next = cache.Read(second);
        Assert.Same(one, cache.Read([.. first]));
        Assert.NotSame(one, cache.Read(Part(number: 5, firstId: 2)));
        Assert.NotSame(one, cache.Read(Part(number: 6, firstId: 1)));
        Assert.NotSame(one, new ConfigurationCache().Read(first));

        var both = one.Content.With(next.Content);
        Assert.Same(both, one.Content.With(next.Content));
        Assert.Equal(one.Content.Joined.Concat(next.Content.Joined), both.Joined);
        Assert.NotEqual(both.Joined, one.Content.With(one.Content).Joined);
    }

    // All nodes read all parts, one after the other: a part that pushed another one out would be read again by each node.
    [Fact]
    public void Parts_that_nodes_read_by_turns_are_read_once()
    {
        var cache = new ConfigurationCache();
        byte[][] bodies = [.. Enumerable.Range(1, 100).Select(number => Part(number, firstId: 1))];
        ConfigurationMessage[] first = [.. bodies.Select(body => cache.Read(body))];
        for (int node = 0; node < 3; node++)
        {
            Assert.All(bodies.Zip(first), part => Assert.Same(part.Second, cache.Read(part.First)));
        }
    }

    private static byte[] Part(long number, ulong firstId)
    {
        var frames = new ControlBuffer();
        var writer = new ConfigurationWriter(frames);
        writer.Begin(new ConfigurationHeader(number, 0, IsSnapshot: true, LastRequest: 0));
        for (ulong id = firstId; id < firstId + 20; id++)
        {
            writer.Add(new NodeInfo(new NodeKey(id, 1), new IPEndPoint(IPAddress.Loopback, 5), (long)id, number));
        }

        writer.End(isLast: false);
        Assert.Equal(FrameOutcome.Complete, ControlFrame.TryCut(frames.Written, 4096, out _, out var body, out _));
        return body.ToArray();
    }
}
