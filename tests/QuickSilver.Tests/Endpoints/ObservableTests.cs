using QuickSilver.Membership.Views;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Endpoints;

public sealed class ObservableTests
{
    private const string Name = "flights";

    [Fact]
    public async Task Observers_get_what_was_buffered_and_each_message_on_the_core_thread_until_the_topic_is_disposed()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenSubscriberAsync<string>(node, Name);
        var receiver = parts.ReceiverOf(Name);
        int core = 0;
        await parts.Core.RunAsync(() =>
        {
            core = Environment.CurrentManagedThreadId;
            Assert.True(receiver.Deliver(1, "a"u8));
        });
        var first = new RecordingObserver();
        var second = new RecordingObserver();
        var observable = topic.AsObservable();
        using var one = observable.Subscribe(first);
        using var other = observable.Subscribe(second);
        await parts.Core.RunAsync(() => Assert.True(receiver.Deliver(2, "b"u8)));
        await topic.DisposeAsync().OrFail();

        Assert.Equal(["a", "b", "completed"], first.Told);
        Assert.Equal(["b", "completed"], second.Told);
        Assert.Equal([core], first.Threads);
    }

    [Fact]
    public async Task An_observer_that_leaves_gets_nothing_more_and_the_others_continue()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenSubscriberAsync<string>(node, Name);
        var leaver = new RecordingObserver();
        var stayer = new RecordingObserver();
        var leaving = topic.AsObservable().Subscribe(leaver);
        using var staying = topic.AsObservable().Subscribe(stayer);
        await parts.Core.RunAsync(() => Assert.True(parts.ReceiverOf(Name).Deliver(1, "a"u8)));
        leaving.Dispose();
        leaving.Dispose();
        await parts.Core.RunAsync(() => Assert.True(parts.ReceiverOf(Name).Deliver(2, "b"u8)));
        await topic.DisposeAsync().OrFail();

        Assert.Equal(["a"], leaver.Told);
        Assert.Equal(["a", "b", "completed"], stayer.Told);
    }

    [Fact]
    public async Task An_expelled_node_gives_observers_the_reason()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenSubscriberAsync<string>(node, Name);
        var observer = new RecordingObserver();
        var observable = topic.AsObservable();
        using var subscription = observable.Subscribe(observer);
        await parts.Core.RunAsync(() => parts.Service.Observer!.OnExpelled("ten heartbeats missed"));
        await parts.Core.RunAsync(static () => { });
        Assert.Equal(["error"], observer.Told);
        Assert.Contains("ten heartbeats missed", Assert.IsType<NodeExpelledException>(observer.Error).Message);

        var late = new RecordingObserver();
        using var after = observable.Subscribe(late);
        Assert.IsType<NodeExpelledException>(late.Error);
        await node.DisposeAsync().OrFail();
        Assert.Equal(["error"], observer.Told);
    }

    [Fact]
    public async Task A_topic_that_is_refused_later_gives_observers_the_reason()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenSubscriberAsync<string>(node, Name);
        var observer = new RecordingObserver();
        using var subscription = topic.AsObservable().Subscribe(observer);
        await parts.Core.RunAsync(() => parts.Service.Observer!.OnTopicRefused(TopicId.Of(Name), "another contract"));
        await parts.Core.RunAsync(static () => { });
        Assert.StartsWith("another contract", Assert.IsType<ContractMismatchException>(observer.Error).Message);
    }

    [Fact]
    public async Task An_observer_of_an_ended_topic_is_notified_at_once()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenSubscriberAsync<string>(node, Name);
        var observable = topic.AsObservable();
        topic.Cancel();
        var observer = new RecordingObserver();
        using var subscription = observable.Subscribe(observer);
        Assert.Equal(["completed"], observer.Told);
        Assert.Throws<InvalidOperationException>(topic.AsObservable);
        Assert.Throws<ArgumentNullException>(() => observable.Subscribe(null!));
        await topic.DisposeAsync().OrFail();
        Assert.Equal(["completed"], observer.Told);
    }

    [Fact]
    public async Task Exceptions_of_observers_are_logged_and_counted()
    {
        await using var parts = new FakeParts();
        var logs = new RecordingLogs();
        var node = await parts.StartAsync(logs: logs);
        var topic = await parts.OpenSubscriberAsync<string>(node, Name);
        var observer = new RecordingObserver { Throws = true };
        using var subscription = topic.AsObservable().Subscribe(observer);
        await parts.Core.RunAsync(() => Assert.True(parts.ReceiverOf(Name).Deliver(1, "a"u8)));
        await parts.Core.RunAsync(() => Assert.True(parts.ReceiverOf(Name).Deliver(2, "b"u8)));
        await topic.DisposeAsync().OrFail();
        Assert.Equal(["a", "b", "completed"], observer.Told);
        Assert.Equal(3, node.GetCounters().HandlerFaults);
        Assert.Contains(logs.Entries, entry => entry.Id == 1620);
    }
}
