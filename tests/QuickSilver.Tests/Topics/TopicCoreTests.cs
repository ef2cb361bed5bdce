using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Topics;

// What a topic asks of the service, and what its endpoints get.
public sealed class TopicCoreTests
{
    private const string Name = "topic";
    private const TopicRole Both = TopicRole.Publish | TopicRole.Subscribe;

    [Fact]
    public async Task One_question_is_asked_at_a_time_and_the_next_is_for_all_that_is_wanted_by_then()
    {
        await using var parts = new FakeParts();
        parts.Service.HoldsAnswers = true;
        var node = await parts.StartAsync();
        var first = node.OpenPublisherAsync<string>(Name);
        var second = node.OpenSubscriberAsync<string>(Name);
        var third = node.OpenTopicAsync<string>(Name);
        await parts.Core.RunAsync(() => { });
        Assert.Equal([TopicRole.Publish], Asked(parts));

        await parts.Core.RunAsync(() => parts.Service.Answers.Dequeue()());
        await first.OrFail();
        Assert.Equal([TopicRole.Publish, Both], Asked(parts));
        Assert.False(second.IsCompleted || third.IsCompleted);

        await parts.Core.RunAsync(() => parts.Service.Answers.Dequeue()());
        await Task.WhenAll(second, third).OrFail();
        Assert.Equal(2, parts.Service.Requests.Count);
    }

    [Fact]
    public async Task A_refusal_ends_the_openings_that_it_is_about_and_no_endpoint_that_was_granted_less()
    {
        await using var parts = new FakeParts();
        parts.Service.Refuse = request => (request.Role & TopicRole.Subscribe) != 0 ? "no more readers" : null;
        var node = await parts.StartAsync();
        var publisher = await node.OpenPublisherAsync<string>(Name).OrFail();

        var refusal = await Assert.ThrowsAsync<ContractMismatchException>(
            () => node.OpenSubscriberAsync<string>(Name)).OrFail();

        Assert.StartsWith("no more readers.", refusal.Message);
        await publisher.PublishAsync("on").OrFail();
        await Patience.Until(() => parts.SenderOf(Name).Count == 1);
        Assert.True(parts.ReceiverOf(Name).IsClosed);
        Assert.Empty(parts.Service.Closed);
    }

    [Fact]
    public async Task A_topic_that_is_refused_later_ends_its_endpoints_with_the_reason_and_the_untaken_as_a_gap()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var subscriber = await node.OpenSubscriberAsync<string>(Name).OrFail();
        var publisher = await node.OpenPublisherAsync<string>(Name).OrFail();
        var gaps = new List<(long First, long Last, GapReason Reason)>();
        using var handler = subscriber.SubscribeInline((in Message<string> _) => { }, gap => gaps.Add((gap.First, gap.Last, gap.Reason)));
        parts.ReceiverOf(Name).Refused = (4, 6);

        await parts.Core.RunAsync(() => parts.Service.Observer!.OnTopicRefused(TopicId.Of(Name), "another contract"));

        Assert.Equal([(4L, 6L, GapReason.ContractMismatch)], gaps);
        Assert.Equal(3, node.GetCounters().Gaps);
        var failure = await Assert.ThrowsAsync<ContractMismatchException>(() => publisher.PublishAsync("x").AsTask()).OrFail();
        Assert.StartsWith("another contract.", failure.Message);
        Assert.Equal([TopicId.Of(Name)], parts.Service.Closed);
        Assert.True(parts.SenderOf(Name).IsClosed && parts.ReceiverOf(Name).IsClosed);
        Assert.Equal(0, node.Status.OpenTopics);
    }

    [Fact]
    public async Task A_right_that_is_taken_away_ends_the_topic_with_the_exception_of_rights()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var subscriber = await node.OpenSubscriberAsync<string>(Name).OrFail();
        var publisher = await node.OpenPublisherAsync<string>(Name).OrFail();
        var gaps = new List<GapReason>();
        using var handler = subscriber.SubscribeInline((in Message<string> _) => { }, gap => gaps.Add(gap.Reason));
        parts.ReceiverOf(Name).Refused = (4, 6);

        await parts.Core.RunAsync(() => parts.Service.Observer!.OnTopicRefused(TopicId.Of(Name), "'clerk' may not publish.", "clerk"));

        Assert.Equal([GapReason.AccessDenied], gaps);
        Assert.Equal(3, node.GetCounters().Gaps);
        var failure = await Assert.ThrowsAsync<TopicAccessDeniedException>(() => publisher.PublishAsync("x").AsTask()).OrFail();
        Assert.Equal(("clerk", Name), (failure.Identity, failure.Topic));
        Assert.DoesNotContain("options of all endpoints", failure.Message);
    }

    [Fact]
    public async Task A_refusal_of_a_topic_that_is_not_open_is_ignored()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await node.OpenPublisherAsync<string>(Name).OrFail();

        await parts.Core.RunAsync(() => parts.Service.Observer!.OnTopicRefused(TopicId.Of("other"), "another contract"));

        await topic.PublishAsync("on").OrFail();
        Assert.Equal(1, node.Status.OpenTopics);
    }

    [Fact]
    public async Task A_subscription_that_was_ended_and_begun_while_the_service_was_asked_is_ended_there_before_it_begins_again()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var first = await node.OpenSubscriberAsync<string>(Name).OrFail();
        parts.Service.HoldsAnswers = true;
        var (publisher, second, closed) = await ResubscribeWhileAskedAsync(parts, node, first);
        Assert.True(closed.IsClosed);

        await parts.Core.RunAsync(() => parts.Service.Answers.Dequeue()());
        Assert.Equal([TopicRole.Subscribe, Both, TopicRole.Publish], Asked(parts));
        Assert.False(second.IsCompleted);

        await parts.Core.RunAsync(() => parts.Service.Answers.Dequeue()());
        Assert.Equal(Both, parts.Service.Requests[^1].Role);
        Assert.False(second.IsCompleted);
        await parts.Core.RunAsync(() => parts.Service.Answers.Dequeue()());
        await Task.WhenAll(publisher, second).OrFail();
        Assert.False(parts.ReceiverOf(Name).IsClosed);
    }

    [Fact]
    public async Task A_subscription_is_ended_before_it_begins_again_without_asking_for_a_right_to_publish()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var first = await node.OpenSubscriberAsync<string>(Name).OrFail();
        parts.Service.HoldsAnswers = true;
        parts.Service.Refuse = static request => request.Role == Both ? "no right to publish" : null;
        var (publisher, second, _) = await ResubscribeWhileAskedAsync(parts, node, first);

        await parts.Core.RunAsync(() => parts.Service.Answers.Dequeue()());
        Assert.Equal([TopicRole.Subscribe, Both, TopicRole.Subscribe], Asked(parts));
        Assert.Equal([TopicId.Of(Name)], parts.Service.Closed);
        await Assert.ThrowsAsync<ContractMismatchException>(() => publisher).OrFail();
        Assert.False(second.IsCompleted);

        await parts.Core.RunAsync(() => parts.Service.Answers.Dequeue()());
        await second.OrFail();
        Assert.False(parts.ReceiverOf(Name).IsClosed);
    }

    [Fact]
    public async Task Nothing_more_is_asked_for_a_topic_that_was_still_opening_when_the_node_began_to_leave()
    {
        await using var parts = new FakeParts();
        parts.Service.HoldsAnswers = true;
        parts.Service.AnswersLeave = false;
        var node = await parts.StartAsync();
        var opening = node.OpenTopicAsync<string>(Name);
        await Patience.Until(() => parts.Service.Requests.Count == 1);
        var disposal = node.DisposeAsync().AsTask();
        await Patience.Until(() => parts.Service.HasLeft);
        await Assert.ThrowsAsync<ObjectDisposedException>(() => opening).OrFail();

        await parts.Core.RunAsync(() => parts.Service.Answers.Dequeue()());

        Assert.Equal([Both], Asked(parts));
        Assert.Equal([TopicId.Of(Name)], parts.Service.Closed);
        await parts.Time.RunUntilAsync(disposal);
    }

    [Fact]
    public async Task Openings_that_are_pending_when_the_node_ends_fail_with_its_reason()
    {
        await using var parts = new FakeParts();
        parts.Service.HoldsAnswers = true;
        var node = await parts.StartAsync();
        var opening = node.OpenTopicAsync<string>(Name);
        await Patience.Until(() => parts.Service.Requests.Count == 1);

        await parts.Core.RunAsync(() => parts.Service.Observer!.OnExpelled("ten heartbeats missed"));

        var failure = await Assert.ThrowsAsync<NodeExpelledException>(() => opening).OrFail();
        Assert.Contains("ten heartbeats missed", failure.Message);
    }

    [Fact]
    public async Task An_answer_that_comes_after_the_topic_was_closed_changes_nothing()
    {
        await using var parts = new FakeParts();
        parts.Service.HoldsAnswers = true;
        var node = await parts.StartAsync();
        using var givenUp = new CancellationTokenSource();
        var opening = node.OpenTopicAsync<string>(Name, null, givenUp.Token);
        await Patience.Until(() => parts.Service.Requests.Count == 1);
        await givenUp.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => opening).OrFail();
        await Patience.Until(() => parts.Service.Closed.Count == 1);

        parts.Service.Refuse = _ => "too late";
        await parts.Core.RunAsync(() => parts.Service.Answers.Dequeue()());

        Assert.Single(parts.Service.Requests);
        Assert.Single(parts.Service.Closed);
    }

    [Fact]
    public async Task A_gap_is_reported_to_every_endpoint_that_subscribes_and_counted_once()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var told = new List<int>();
        foreach (int number in new[] { 1, 2 })
        {
            var topic = await node.OpenSubscriberAsync<string>(Name).OrFail();
            topic.SubscribeInline((in Message<string> _) => { }, _ => told.Add(number));
        }

        await parts.Core.RunAsync(() => parts.ReceiverOf(Name).Gap(3, 7, TopicGapReason.SenderGone));

        Assert.Equal([1, 2], told);
        Assert.Equal(5, node.GetCounters().Gaps);
    }

    // The service is asked for a publisher. Meanwhile the subscriber is closed, and another one is opened.
    private static async Task<(Task<ITopicPublisher<string>> Publisher, Task<ITopicSubscriber<string>> Second, FakeReceiver Closed)>
        ResubscribeWhileAskedAsync(FakeParts parts, QuickSilverNode node, ITopicSubscriber<string> first)
    {
        var publisher = node.OpenPublisherAsync<string>(Name);
        await Patience.Until(() => parts.Service.Requests.Count == 2);
        var closed = parts.ReceiverOf(Name);
        await first.DisposeAsync().OrFail();
        var second = node.OpenSubscriberAsync<string>(Name);
        await Patience.Until(() => parts.ReceiverOf(Name) != closed);
        return (publisher, second, closed);
    }

    private static IEnumerable<TopicRole> Asked(FakeParts parts) => parts.Service.Requests.Select(request => request.Role);
}
