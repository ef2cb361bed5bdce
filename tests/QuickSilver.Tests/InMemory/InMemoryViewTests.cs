using QuickSilver.Endpoints;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.InMemory;

// The views of pinned topics on a network in memory, as protocols have them.
public sealed class InMemoryViewTests
{
    private readonly InMemoryNetwork _network = new();
    private readonly List<Watched> _watched = [];

    [Fact]
    public async Task Members_that_pass_from_view_to_view_together_take_the_same_messages_in_between()
    {
        const int Rounds = 30;
        await using var first = await _network.StartNodeAsync().OrFail();
        await using var second = await _network.StartNodeAsync().OrFail();
        await using var third = await _network.StartNodeAsync().OrFail();
        await using var here = await OpenAsync(first);
        await using var there = await OpenAsync(second);
        await here.WaitForSubscribersAsync(2).OrFail();
        var publishing = Task.WhenAll(PublishAsync(here), PublishAsync(there));
        for (int i = 0; i < Rounds; i++)
        {
            await using var comes = await OpenAsync(third);
            await here.WaitForSubscribersAsync(3).OrFail();
            await comes.PublishAsync("from the third").OrFail();
            await comes.DrainAsync().OrFail();
        }

        await publishing.OrFail();
        await Patience.Until(() => _watched[0].Log.Count(static entry => entry.StartsWith('m')) >= 4_000 + Rounds
            && _watched[1].Log.Count(static entry => entry.StartsWith('m')) >= 4_000 + Rounds);

        // All of the first two are in all views, and so see one sequence of views with the same messages between, sender by sender.
        Assert.Equal(Between(_watched[0]), Between(_watched[1]));
        Assert.InRange(_watched[0].Views.Count, Rounds, 2 + (2 * Rounds));
        foreach (var one in _watched.Skip(2))
        {
            Assert.StartsWith("view", one.Log[0], StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task Each_view_names_its_members_by_age_and_who_joined_and_left()
    {
        await using var first = await _network.StartNodeAsync().OrFail();
        await using var second = await _network.StartNodeAsync().OrFail();
        await using var there = await OpenAsync(second);
        await using (await OpenAsync(first))
        {
            await there.WaitForSubscribersAsync(2).OrFail();
        }

        await Patience.Until(() => _watched[0].Views.Count == 3);
        var (one, two) = (KeyOf(first), KeyOf(second));
        Assert.Equal([[two], [two, one], [two]], _watched[0].Views.Select(static view => view.Members.ToArray()));
        Assert.Equal([[two], [one], []], _watched[0].Views.Select(static view => view.Joined.ToArray()));
        Assert.Equal([[], [], [one]], _watched[0].Views.Select(static view => view.Left.ToArray()));
        Assert.Equal([[two, one]], _watched[1].Views.Select(static view => view.Members.ToArray()));
    }

    [Fact]
    public async Task A_barrier_holds_the_publishers_of_its_node_until_it_is_released()
    {
        await using var first = await _network.StartNodeAsync().OrFail();
        await using var second = await _network.StartNodeAsync().OrFail();
        await using var here = await OpenAsync(first);
        var watched = _watched[0];
        watched.KeepsBarriers = true;
        await using var there = await OpenAsync(second);
        await Patience.Until(() => watched.Barriers.Count == 1);

        var held = here.PublishAsync("held", PublishCompletion.Stable).AsTask();
        await there.PublishAsync("not held", PublishCompletion.Stable).OrFail();
        await Patience.Until(() => watched.Log.Contains($"m{KeyOf(second)}"));
        Assert.False(held.IsCompleted);
        watched.Run(() =>
        {
            watched.Barriers[0].Release();
            watched.Barriers[0].Release();
        });
        await held.OrFail();
        await Patience.Until(() => watched.Log.Contains($"m{KeyOf(first)}"));
    }

    [Fact]
    public async Task A_barrier_ends_with_its_subscription()
    {
        await using var first = await _network.StartNodeAsync().OrFail();
        await using var second = await _network.StartNodeAsync().OrFail();
        await using var publisher = await first.OpenEndpointAsync<string>("viewed", TopicAccess.Publish, Options()).OrFail();
        var here = await OpenAsync(first);
        var watched = _watched[^1];
        watched.KeepsBarriers = true;
        await using var there = await OpenAsync(second);
        await Patience.Until(() => watched.Barriers.Count == 1);
        var held = publisher.PublishAsync("held", PublishCompletion.Stable).AsTask();
        await here.DisposeAsync();
        await held.OrFail();
    }

    [Fact]
    public async Task A_message_is_stable_as_soon_as_it_was_taken()
    {
        await using var node = await _network.StartNodeAsync().OrFail();
        await using var topic = await OpenAsync(node);
        await topic.PublishAsync("a", PublishCompletion.Stable).OrFail();
        await topic.PublishAsync("b", PublishCompletion.Stable).OrFail();
        string key = $"{KeyOf(node)}";
        await Patience.Until(() => _watched[0].Log.Count == 5);
        Assert.Equal(["view 1", $"m{key}", $"stable 1 of {key}", $"m{key}", $"stable 2 of {key}"], _watched[0].Log);
    }

    [Fact]
    public async Task The_roster_has_the_nodes_of_the_cluster()
    {
        await using var first = await _network.StartNodeAsync().OrFail();
        await using var topic = await OpenAsync(first);
        var second = await _network.StartNodeAsync().OrFail();
        var watched = _watched[0];
        await Patience.Until(() => watched.Node.Roster.Count == 2);
        Assert.Equal(second.Name, watched.Node.Roster.Find(KeyOf(second))?.Name);
        await second.DisposeAsync();
        await Patience.Until(() => watched.Node.Roster.Count == 1);
        Assert.True(watched.Node.Roster.Contains(KeyOf(first)));
    }

    private static NodeKey KeyOf(QuickSilverNode node) => new(node.Id.Id, node.Id.Incarnation);

    // Of each view, how many messages of each sender came in it. The last one is left out: it has not ended.
    private static List<string> Between(Watched watched)
    {
        var between = new List<string>();
        var counts = new SortedDictionary<string, int>(StringComparer.Ordinal);
        foreach (string entry in watched.Log.Where(static entry => !entry.StartsWith("stable", StringComparison.Ordinal)))
        {
            if (entry.StartsWith("view", StringComparison.Ordinal))
            {
                between.Add(string.Join(' ', counts.Select(static one => $"{one.Key}:{one.Value}")));
                counts.Clear();
            }
            else
            {
                counts[entry] = counts.GetValueOrDefault(entry) + 1;
            }
        }

        return between.TakeLast(40).ToList();
    }

    private static async Task PublishAsync(ITopicPublisher<string> topic)
    {
        for (int i = 0; i < 2_000; i++)
        {
            await topic.PublishAsync($"{i}");
        }
    }

    private TopicOptions Options() => new()
    {
        Protocol = new ProtocolChoice(new TopicProtocolFactory("Viewed", node => new Views(node, _watched)) { IsPinned = true }),
    };

    // The handler takes the messages, so that no reader holds them.
    private async Task<ITopic<string>> OpenAsync(QuickSilverNode node)
    {
        var topic = await node.OpenTopicAsync<string>("viewed", Options()).OrFail();
        topic.SubscribeInline(static (in Message<string> _) => { });
        return topic;
    }

    private sealed class Views(IProtocolNode node, List<Watched> watched) : ITopicProtocol
    {
        public ITopicSender OpenPublisher(in ProtocolTopic topic) => node.Multicast.OpenPublisher(ChannelOf(topic));

        public ITopicReceiver OpenSubscription(in ProtocolTopic topic, IDeliverySink sink)
        {
            var own = new Watched(node, sink);
            lock (watched)
            {
                watched.Add(own);
            }

            return node.Multicast.OpenSubscription(ChannelOf(topic) with { ReportsStable = true }, own);
        }

        private static ChannelSpec ChannelOf(in ProtocolTopic topic) =>
            new(topic.Id) { Reliability = Reliability.Reliable, IsPinned = true, Parameters = topic.Contract.Parameters };
    }

    // Notes what comes, and passes it on. The log is read after the test has waited for it.
    private sealed class Watched(IProtocolNode node, IDeliverySink sink) : IDeliverySink
    {
        private readonly List<string> _log = [];

        public IProtocolNode Node => node;

        public List<MemberView> Views { get; } = [];

        public List<IFlushBarrier> Barriers { get; } = [];

        public volatile bool KeepsBarriers;

        public IReadOnlyList<string> Log
        {
            get
            {
                lock (_log)
                {
                    return [.. _log];
                }
            }
        }

        public void Run(Action action) => node.Environment.Post(new Core.Requests.ActionRequest(action));

        public bool TryAccept(in DeliveredMessage message)
        {
            if (!sink.TryAccept(message))
            {
                return false;
            }

            Note($"m{message.Sender}");
            return true;
        }

        public void OnGap(in TopicGap gap) => sink.OnGap(gap);

        public void OnStable(NodeKey sender, long through) => Note($"stable {through} of {sender}");

        public void OnView(MemberView view)
        {
            Note($"view {view.Members.Length}");
            Views.Add(view);
            sink.OnView(view);
        }

        public void OnFlush(IFlushBarrier barrier)
        {
            if (KeepsBarriers)
            {
                Barriers.Add(barrier);
            }
            else
            {
                barrier.Release();
            }
        }

        private void Note(string entry)
        {
            lock (_log)
            {
                _log.Add(entry);
            }
        }
    }
}
