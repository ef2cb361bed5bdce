using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.InMemory;

// I25, for each verb that ends a subscriber of whole nodes.
public sealed class EndingTests
{
    // As many as have room while nothing is read, so that the publisher does not wait for the consumer.
    private const int Accepted = 1500;

    public static TheoryData<string, int> Verbs()
    {
        var data = new TheoryData<string, int>();
        foreach (string verb in new[] { "stop", "stop with a limit", "dispose", "dispose all", "cancel", "dispose the node" })
        {
            data.Add(verb, 1);
            data.Add(verb, 4);
        }

        return data;
    }

    [Fact]
    public async Task An_endpoint_without_echo_does_not_wait_for_own_messages_that_another_endpoint_holds_up()
    {
        var network = new InMemoryNetwork();
        await using var here = await network.StartNodeAsync().OrFail();
        await using var without = await here.OpenTopicAsync<string>("t", new TopicOptions { ReceiveOwnMessages = false }).OrFail();
        await using var slow = await here.OpenSubscriberAsync<string>("t", new TopicOptions { ReaderCapacity = 4 }).OrFail();
        await using var reader = slow.ReadAllAsync().GetAsyncEnumerator();
        var consumption = without.Subscribe(static (_, _) => default);
        await without.WaitForSubscribersAsync(1).OrFail();
        var published = Enumerable.Range(0, 20).Select(i => without.PublishAsync($"{i}").AsTask()).ToArray();
        await Patience.Until(() => here.GetCounters().Delivered >= 4);
        await consumption.StopAsync().OrFail();

        Assert.Equal(0, (await consumption.Completion.OrFail()).Unhandled);
        for (int i = 0; i < published.Length; i++)
        {
            Assert.True(await reader.MoveNextAsync().OrFail());
        }

        await Task.WhenAll(published).OrFail();
        Assert.Equal(0, here.GetCounters().Unhandled);
    }

    [Theory]
    [MemberData(nameof(Verbs))]
    public async Task Everything_that_was_accepted_is_handled_or_reported(string verb, int concurrency)
    {
        var network = new InMemoryNetwork();
        var logs = new RecordingLogs();
        await using var here = await network.StartNodeAsync().OrFail();
        var there = await network.StartNodeAsync(loggerFactory: logs).OrFail();
        await using var sent = await here.OpenPublisherAsync<string>("t").OrFail();
        var received = await there.OpenSubscriberAsync<string>("t").OrFail();
        long handled = 0;
        long reported = 0;
        var consumption = received.Subscribe(
            async (_, stop) =>
            {
                await Task.Delay(1, stop);
                Interlocked.Increment(ref handled);
            },
            new ConsumerOptions<string> { Concurrency = concurrency, OnGap = gap => Interlocked.Add(ref reported, gap.Count) });
        await sent.WaitForSubscribersAsync(1).OrFail();
        for (int i = 0; i < Accepted; i++)
        {
            await sent.PublishAsync($"{i}").OrFail();
        }

        await Patience.Until(() => Volatile.Read(ref handled) > 20);
        await EndAsync();
        var end = await consumption.Completion.OrFail();
        await received.DisposeAsync().OrFail();
        await there.DisposeAsync().OrFail();

        var counters = there.GetCounters();
        // Without a reader, the buffer keeps the newest messages only.
        Assert.Equal(Accepted, handled + counters.Unhandled + counters.ReaderDrops);
        Assert.Equal(verb == "dispose all", counters.ReaderDrops > 0);
        Assert.Equal(verb is "stop" or "dispose", counters.Unhandled == 0);
        Assert.Equal(end.Unhandled, reported);
        Assert.Equal(counters.Unhandled > 0, logs.Entries.Any(static entry => entry.Id == 1650));

        async Task EndAsync()
        {
            switch (verb)
            {
                case "stop":
                    await consumption.StopAsync().OrFail();
                    break;
                case "stop with a limit":
                    using (var limit = new CancellationTokenSource(50))
                    {
                        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => consumption.StopAsync(limit.Token));
                    }

                    break;
                case "dispose":
                    await received.DisposeAsync().OrFail();
                    break;
                case "dispose all":
                    await consumption.DisposeAsync().OrFail();
                    await received.DisposeAsync().OrFail();
                    break;
                case "cancel":
                    received.Cancel();
                    break;
                default:
                    await there.DisposeAsync().OrFail();
                    break;
            }
        }
    }
}
