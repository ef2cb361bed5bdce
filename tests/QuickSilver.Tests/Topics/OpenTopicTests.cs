using System.Runtime.CompilerServices;
using QuickSilver.Endpoints;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Views;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;
using QuickSilver.Topics;

namespace QuickSilver.Tests.Topics;

public sealed class OpenTopicTests
{
    private const string Name = "shared";

    [Fact]
    public async Task Endpoints_of_one_topic_share_its_access_which_grows_and_shrinks_with_them()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var publisher = await node.OpenPublisherAsync<string>(Name).OrFail();
        var subscriber = await node.OpenSubscriberAsync<string>(Name).OrFail();
        var both = await node.OpenTopicAsync<string>(Name).OrFail();
        Assert.Equal([TopicRole.Publish, TopicRole.Publish | TopicRole.Subscribe], parts.Service.Requests.Select(request => request.Role));
        Assert.Equal(1, node.Status.OpenTopics);

        await both.DisposeAsync().OrFail();
        await publisher.DisposeAsync().OrFail();
        Assert.Equal(TopicRole.Subscribe, parts.Service.Requests[^1].Role);
        Assert.True(parts.SenderOf(Name).IsClosed);
        Assert.False(parts.ReceiverOf(Name).IsClosed);
        Assert.Empty(parts.Service.Closed);
        await subscriber.DisposeAsync().OrFail();
        Assert.Equal([TopicId.Of(Name)], parts.Service.Closed);
        Assert.True(parts.ReceiverOf(Name).IsClosed);
        Assert.Equal(0, node.Status.OpenTopics);
    }

    [Fact]
    public async Task Two_subscribing_endpoints_get_each_message_once_although_one_of_them_is_slow()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var slow = await node.OpenSubscriberAsync<string>(Name, new TopicOptions { ReaderCapacity = 1 }).OrFail();
        var quick = await node.OpenSubscriberAsync<string>(Name).OrFail();
        var handled = new List<long>();
        using var handler = quick.SubscribeInline((in Message<string> message) => handled.Add(message.Sequence));
        await using var reader = slow.ReadAllAsync().GetAsyncEnumerator();
        var receiver = parts.ReceiverOf(Name);
        await parts.Core.RunAsync(() =>
        {
            Assert.True(receiver.Deliver(1, "x"u8));
            Assert.False(receiver.Deliver(2, "x"u8));
            Assert.False(receiver.Deliver(2, "x"u8));
        });
        Assert.Equal([1L], handled);
        int resumes = receiver.Resumes;
        Assert.True(await reader.MoveNextAsync().OrFail());
        await Patience.Until(() => receiver.Resumes > resumes);
        await parts.Core.RunAsync(() => Assert.True(receiver.Deliver(2, "x"u8)));
        Assert.Equal([1L, 2L], handled);
        Assert.Equal(2, node.GetCounters().Delivered);
    }

    [Fact]
    public async Task A_subscription_is_open_when_a_view_has_it_and_what_comes_with_the_view_is_not_missed()
    {
        await using var parts = new FakeParts();
        parts.Service.HoldsViews = true;
        var node = await parts.StartAsync();
        var opening = node.OpenSubscriberAsync<string>(Name);
        await Patience.Until(() => parts.Service.Requests.Count == 1);
        await parts.Core.RunAsync(() => parts.Service.PublishView(TopicId.Of(Name), subscribers: 1, subscribed: false));
        Assert.False(opening.IsCompleted);
        await parts.Core.RunAsync(() =>
        {
            Assert.True(parts.ReceiverOf(Name).Deliver(1, "early"u8));
            parts.Service.PublishView(TopicId.Of(Name), subscribers: 2, subscribed: true);
        });
        var topic = await opening.OrFail();
        await using var reader = topic.ReadAllAsync().GetAsyncEnumerator();
        Assert.True(await reader.MoveNextAsync().OrFail());
        Assert.Equal("early", reader.Current.Value);
    }

    [Fact]
    public async Task Opening_many_topics_at_once_asks_for_each_once_and_completes()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topics = await Task.WhenAll(Enumerable.Range(0, 2000).Select(i => node.OpenTopicAsync<string>($"t/{i}"))).OrFail();
        Assert.Equal(2000, parts.Service.Requests.Count);
        Assert.Equal(2000, node.Status.OpenTopics);
        Assert.Equal("t/1999", topics[^1].Name);
    }

    [Fact]
    public async Task An_opening_that_is_given_up_leaves_nothing_behind()
    {
        await using var parts = new FakeParts();
        parts.Service.HoldsAnswers = true;
        var node = await parts.StartAsync();
        using var cancellation = new CancellationTokenSource();
        var opening = node.OpenTopicAsync<string>(Name, null, cancellation.Token);
        await Patience.Until(() => parts.Service.Answers.Count == 1);
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => opening).OrFail();
        await Patience.Until(() => parts.Service.Closed.Count == 1);
        await parts.Core.RunAsync(() => parts.Service.Answers.Dequeue()());
        Assert.Equal(0, node.Status.OpenTopics);
        Assert.True(parts.ReceiverOf(Name).IsClosed);
    }

    [Fact]
    public async Task Waiting_for_subscribers_ends_when_there_are_enough()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await node.OpenPublisherAsync<string>(Name).OrFail();
        var two = topic.WaitForSubscribersAsync(2);
        Assert.True(topic.WaitForSubscribersAsync(0).IsCompletedSuccessfully);
        await parts.Core.RunAsync(() => parts.Service.PublishView(TopicId.Of(Name), 1, subscribed: false));
        Assert.False(two.IsCompleted);
        await parts.Core.RunAsync(() => parts.Service.PublishView(TopicId.Of(Name), 2, subscribed: false));
        await two.OrFail();
        Assert.Equal(2, topic.Subscribers);
        using var cancellation = new CancellationTokenSource();
        var cancelled = topic.WaitForSubscribersAsync(9, cancellation.Token);
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled).OrFail();
        var ended = topic.WaitForSubscribersAsync(9);
        await topic.DisposeAsync().OrFail();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => ended).OrFail();
    }

    [Fact]
    public async Task Opening_can_be_given_up_while_a_handler_blocks_the_core_thread_and_leaves_nothing_behind()
    {
        await using var parts = new FakeParts();
        using var release = new ManualResetEventSlim();
        var node = await parts.StartAsync();
        var topic = await node.OpenTopicAsync<string>(Name).OrFail();
        using var handler = topic.SubscribeInline((in Message<string> _) => release.Wait());
        var blocked = parts.Core.RunAsync(() => parts.ReceiverOf(Name).Deliver(1, "x"u8));
        try
        {
            using var giveUp = new CancellationTokenSource();
            var opening = node.OpenTopicAsync<string>("other", cancellationToken: giveUp.Token);
            await giveUp.CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => opening).OrFail();
        }
        finally
        {
            release.Set();
        }

        await blocked.OrFail();
        await parts.Core.RunAsync(() => { });
        Assert.Equal(1, node.Status.OpenTopics);
    }

    [Fact]
    public async Task Waits_for_subscribers_that_were_given_up_do_not_pile_up()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = (TopicEndpoint<string>)await node.OpenTopicAsync<string>(Name).OrFail();
        int open = 0;
        for (int i = 0; i < 100; i++)
        {
            using var giveUp = new CancellationTokenSource();
            var wait = topic.WaitForSubscribersAsync(1000, giveUp.Token);
            await giveUp.CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => wait).OrFail();
            await parts.Core.RunAsync(() => open = ((TopicCore)topic.Topic).SubscriberWaits.Count);
        }

        Assert.InRange(open, 0, 2);
    }

    [Fact]
    public async Task An_opening_that_is_refused_for_its_contract_leaves_nothing_at_the_node()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        await node.OpenTopicAsync<string>(Name).OrFail();
        var codec = await OpenInVain(node);
        await Patience.Until(() =>
        {
            // The queue keeps the last request that it gave out.
            parts.Core.RunAsync(static () => { }).Wait();
            GC.Collect();
            return !codec.TryGetTarget(out _);
        });
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static async Task<WeakReference<HeldCodec>> OpenInVain(QuickSilverNode node)
    {
        var codec = new HeldCodec(bytes: 1);
        var options = new TopicOptions<int> { Codec = codec };
        await Assert.ThrowsAsync<ContractMismatchException>(() => node.OpenTopicAsync<int>(Name, options)).OrFail();
        return new WeakReference<HeldCodec>(codec);
    }
}
