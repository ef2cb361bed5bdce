using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests;

// The machine's own nodes, on the loopback interface, in a cluster that no other run shares.
public sealed class LoopbackTests
{
    [Fact]
    public async Task Nodes_with_the_least_memory_that_is_allowed_carry_the_largest_message_that_is_allowed()
    {
        var options = new QuickSilverOptions
        {
            Cluster = $"least {Guid.NewGuid():N}",
            Limits = { BufferBytes = 32 << 20, RetentionBytes = 1 << 20, PublishQueueBytes = 64 << 10 },
        };
        await using var sender = await QuickSilverNode.StartAsync(options);
        await using var receiver = await QuickSilverNode.StartAsync(options);
        await using var sent = await sender.OpenPublisherAsync<byte[]>("large");
        await using var received = await receiver.OpenSubscriberAsync<byte[]>("large");
        await sent.WaitForSubscribersAsync(1).OrFail();
        await sent.PublishAsync(new byte[16 << 20], PublishCompletion.Stable).OrFail();
        await using var reader = received.ReadAllAsync().GetAsyncEnumerator();
        Assert.True(await reader.MoveNextAsync().OrFail());
        Assert.Equal(16 << 20, reader.Current.Value.Length);
    }

    [Fact]
    public async Task Ten_thousand_messages_from_a_hundred_threads_are_each_in_their_thread_s_order()
    {
        const int Threads = 100;
        const int Each = 100;
        var options = new QuickSilverOptions { Cluster = $"threads {Guid.NewGuid():N}" };
        await using var node = await QuickSilverNode.StartAsync(options);
        await using var topic = await node.OpenTopicAsync<string>("threads");
        var next = new int[Threads];
        int left = Threads * Each;
        bool isOrdered = true;
        var all = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using var handler = topic.SubscribeInline((in Message<string> message) =>
        {
            string[] parts = message.Value.Split(' ');
            isOrdered &= next[int.Parse(parts[0])]++ == int.Parse(parts[1]);
            if (--left == 0)
            {
                all.SetResult();
            }
        });
        var threads = Enumerable.Range(0, Threads).Select(id => new Thread(() =>
        {
            for (int i = 0; i < Each; i++)
            {
                topic.PublishAsync($"{id} {i}").AsTask().Wait();
            }
        })).ToList();
        threads.ForEach(thread => thread.Start());
        threads.ForEach(thread => thread.Join());
        await all.Task.OrFail();
        Assert.True(isOrdered);
    }
}
