namespace QuickSilver.Receipts.Tests;

// The family on a network in memory: its letters, packets and views are those of any node.
public sealed class InMemoryReceiptTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(1);

    [Theory]
    [InlineData(1)]
    // No receipt is due, so only one that is asked for by a packet comes.
    [InlineData(1_000)]
    public async Task A_publisher_learns_which_node_has_taken_which_message(int every)
    {
        var network = new InMemoryNetwork();
        await using var first = await network.StartNodeAsync();
        await using var second = await network.StartNodeAsync();
        var taken = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var options = new ReceiptOptions
        {
            Every = every,
            OnReceipt = receipt =>
            {
                if (receipt.Node == second.Id && receipt.Through == 10)
                {
                    taken.TrySetResult();
                }
            },
        };
        await using var publisher = await first.OpenReceiptTopicAsync<string>("orders", options);
        await using var subscriber = await second.OpenReceiptTopicAsync<string>("orders", new ReceiptOptions { Every = every });
        subscriber.SubscribeInline(static (in Message<string> _) => { });
        await publisher.WaitForSubscribersAsync(2).WaitAsync(Limit, TestContext.Current.CancellationToken);
        for (int i = 0; i < 10; i++)
        {
            await publisher.PublishAsync($"order {i}");
        }

        await taken.Task.WaitAsync(Limit, TestContext.Current.CancellationToken);
    }
}
