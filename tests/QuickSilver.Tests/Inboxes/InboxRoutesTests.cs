using System.Buffers.Binary;
using QuickSilver.Endpoints;
using QuickSilver.Inboxes;
using QuickSilver.Membership.Views;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Inboxes;

// What a node that answers many others keeps for them, and what it does when that is full: the bounds are the routes, and for a route that
// is being opened, the letters and their bytes.
public sealed class InboxRoutesTests : IAsyncLifetime
{
    private const int MostRoutes = InboxRoutes.MaxRoutes;
    private const int MostLetters = 1024;
    private const int MostBytes = 16 << 20;
    private static readonly NodeId Asker = new(1, 1);

    private readonly FakeParts _parts = new();
    private readonly List<(NodeId To, TopicEndpoint<ReadOnlyMemory<byte>> Endpoint)> _opened = [];
    private QuickSilverNode _node = null!;
    private InboxRoutes _routes = null!;
    // Thrown in place of opening a way.
    private Exception? _failure;

    public async ValueTask InitializeAsync()
    {
        _node = await _parts.StartAsync();
        var any = await _node.OpenEndpointAsync<ReadOnlyMemory<byte>>("any", TopicAccess.Publish).OrFail();
        _routes = new InboxRoutes(any.Topic.Node, OpenAsync);
    }

    public async ValueTask DisposeAsync()
    {
        await _routes.DisposeAsync();
        await _parts.Time.RunUntilAsync(_node.DisposeAsync().AsTask());
        await _parts.DisposeAsync();
    }

    [Fact]
    public async Task The_least_recently_used_route_is_closed_for_one_more_than_the_limit()
    {
        for (ulong node = 1; node <= MostRoutes; node++)
        {
            await _routes.SendAsync(new NodeId(node, 1), Letter(1));
        }

        Assert.Equal((MostRoutes, 0), (_routes.Count, _routes.Undelivered));
        // The first is used again, so the second is the oldest.
        await _routes.SendAsync(new NodeId(1, 1), Letter(2));
        await _routes.SendAsync(new NodeId(MostRoutes + 1, 1), Letter(1));
        Assert.Equal((MostRoutes, 1), (_routes.Count, _routes.Undelivered));
        await Patience.Until(() => Opened(new NodeId(2, 1)) is [{ State: not EndpointState.Open }]);
        await Patience.Until(() => Opened(new NodeId(1, 1)) is [{ State: EndpointState.Open }]);

        // A node whose way was closed gets a new way with the next letter.
        await _routes.SendAsync(new NodeId(2, 1), Letter(2));
        await Patience.Until(() => Opened(new NodeId(2, 1)) is [_, { State: EndpointState.Open }]);
        Assert.Equal(MostRoutes, _routes.Count);
    }

    [Fact]
    public async Task Letters_wait_in_order_while_the_way_is_opened_and_those_beyond_the_limit_are_dropped_and_counted()
    {
        for (int letter = 1; letter <= MostLetters + 3; letter++)
        {
            Assert.True(_routes.SendAsync(Asker, Letter(letter)).IsCompletedSuccessfully);
        }

        Assert.Equal(3, _routes.Undelivered);
        await SubscribeAsync(Asker);
        Assert.True(await _routes.OpenAsync(Asker).OrFail());
        await _routes.SendAsync(Asker, Letter(-1)).OrFail();
        int[] expected = [.. Enumerable.Range(1, MostLetters), -1];
        await Patience.Until(() => SentTo(Asker).Count == expected.Length);
        Assert.Equal(expected, SentTo(Asker));
        Assert.Equal(3, _routes.Undelivered);
    }

    [Fact]
    public async Task Large_letters_that_wait_are_bounded_by_their_bytes()
    {
        const int LetterBytes = 1 << 20;
        for (int letter = 1; letter <= (MostBytes / LetterBytes) + 1; letter++)
        {
            await _routes.SendAsync(Asker, new byte[LetterBytes]);
        }

        Assert.Equal(1, _routes.Undelivered);
    }

    [Fact]
    public async Task Letters_for_a_node_that_does_not_come_are_dropped_after_the_limit_and_the_next_letter_tries_again()
    {
        await _routes.SendAsync(Asker, Letter(1));
        await _routes.SendAsync(Asker, Letter(2));
        var opened = _routes.OpenAsync(Asker);
        await Patience.Until(() => Opened(Asker).Count == 1);
        var waited = await _parts.Time.RunUntilAsync(opened);
        Assert.InRange(waited, TimeSpan.FromSeconds(4.9), TimeSpan.FromSeconds(6));
        Assert.False(await opened);
        Assert.Equal(2, _routes.Undelivered);

        await _routes.SendAsync(Asker, Letter(3));
        await Patience.Until(() => Opened(Asker).Count == 2);
        await SubscribeAsync(Asker);
        Assert.True(await _routes.OpenAsync(Asker).OrFail());
        await Patience.Until(() => SentTo(Asker) is [3]);
        Assert.Equal(2, _routes.Undelivered);
    }

    [Fact]
    public async Task A_way_that_cannot_be_opened_for_lack_of_memory_is_opened_again_with_the_next_letter()
    {
        _failure = new OutOfMemoryException("a test");
        await _routes.SendAsync(Asker, Letter(1));
        Assert.False(await _routes.OpenAsync(Asker).OrFail());
        Assert.Equal(1, _routes.Undelivered);

        _failure = null;
        await _routes.SendAsync(Asker, Letter(2));
        await Patience.Until(() => Opened(Asker).Count == 1);
        await SubscribeAsync(Asker);
        Assert.True(await _routes.OpenAsync(Asker).OrFail());
        await Patience.Until(() => SentTo(Asker) is [2]);
        Assert.Equal(1, _routes.Undelivered);
    }

    [Fact]
    public async Task A_letter_that_is_too_large_is_refused_or_dropped_alone_while_the_way_is_opened()
    {
        await _routes.SendAsync(Asker, Letter(1));
        Assert.Throws<MessageTooLargeException>(() => { _ = _routes.SendAsync(Asker, new byte[MostBytes + 1]); });
        await Patience.Until(() => Opened(Asker).Count == 1);
        // Too large for the view that there will be.
        await _routes.SendAsync(Asker, Letter(2, 2000));
        await _routes.SendAsync(Asker, Letter(3));
        await _parts.Core.RunAsync(() => _parts.SenderOf(Inbox.NameOf(Asker)).MostBytes = 1000);
        await SubscribeAsync(Asker);
        Assert.True(await _routes.OpenAsync(Asker).OrFail());
        await Patience.Until(() => SentTo(Asker) is [1, 3]);
        Assert.Equal(1, _routes.Undelivered);
    }

    [Fact]
    public async Task A_full_queue_of_the_node_holds_up_the_responder_and_loses_nothing()
    {
        await _routes.SendAsync(Asker, Letter(0));
        await Patience.Until(() => Opened(Asker).Count == 1);
        await SubscribeAsync(Asker);
        Assert.True(await _routes.OpenAsync(Asker).OrFail());
        await _parts.Core.RunAsync(() => _parts.SenderOf(Inbox.NameOf(Asker)).Room = 0);
        var sends = new List<Task>();
        while (sends.Count == 0 || sends[^1].IsCompleted)
        {
            sends.Add(_routes.SendAsync(Asker, Letter(sends.Count + 1, 1 << 20)).AsTask());
            Assert.InRange(sends.Count, 1, 1000);
        }

        Assert.InRange(sends.Count, 2, 1000);
        await _parts.Core.RunAsync(() => _parts.SenderOf(Inbox.NameOf(Asker)).GiveRoom(int.MaxValue));
        await Task.WhenAll(sends).OrFail();
        await Patience.Until(() => SentTo(Asker).Count == sends.Count + 1);
        Assert.Equal(Enumerable.Range(0, sends.Count + 1), SentTo(Asker));
        Assert.Equal(0, _routes.Undelivered);
    }

    [Fact]
    public async Task Letters_after_the_end_are_counted()
    {
        await _routes.DisposeAsync();
        await _routes.SendAsync(Asker, Letter(1));
        Assert.False(await _routes.OpenAsync(Asker).OrFail());
        Assert.Equal((0, 1), (_routes.Count, _routes.Undelivered));
    }

    private static byte[] Letter(int number, int bytes = sizeof(int))
    {
        var letter = new byte[bytes];
        BinaryPrimitives.WriteInt32LittleEndian(letter, number);
        return letter;
    }

    private async Task<TopicEndpoint<ReadOnlyMemory<byte>>> OpenAsync(NodeId to)
    {
        if (_failure is { } failure)
        {
            throw failure;
        }

        var endpoint = await _node.OpenEndpointAsync<ReadOnlyMemory<byte>>(Inbox.NameOf(to), TopicAccess.Publish);
        lock (_opened)
        {
            _opened.Add((to, endpoint));
        }

        return endpoint;
    }

    private List<TopicEndpoint<ReadOnlyMemory<byte>>> Opened(NodeId to)
    {
        lock (_opened)
        {
            return [.. _opened.Where(one => one.To == to).Select(static one => one.Endpoint)];
        }
    }

    private Task SubscribeAsync(NodeId node) => _parts.Core.RunAsync(
        () => _parts.Service.PublishView(TopicId.Of(Inbox.NameOf(node)), subscribers: 1, subscribed: false));

    private List<int> SentTo(NodeId node) => _parts.Core
        .RunAsync(() => _parts.SenderOf(Inbox.NameOf(node)).Sent.ConvertAll(static one => BinaryPrimitives.ReadInt32LittleEndian(one)))
        .GetAwaiter().GetResult();
}
