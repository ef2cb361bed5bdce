// A user's program with the package of a family, run as two processes: "publish" waits until each node has taken each message, "subscribe"
// reads them all.
using QuickSilver;
using QuickSilver.Receipts;

const int Messages = 1_000;
using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(90));
await using var node = await QuickSilverNode.StartAsync(new QuickSilverOptions { Cluster = args[1] }, cancellationToken: limit.Token);
var taken = new TaskCompletionSource<NodeId>();
var options = new ReceiptOptions { Every = 10, OnReceipt = OnReceipt };
await using var orders = await node.OpenReceiptTopicAsync<string>("orders", options, limit.Token);
if (args[0] == "publish")
{
    await orders.WaitForSubscribersAsync(2, limit.Token);
    for (int i = 1; i <= Messages; i++)
    {
        await orders.PublishAsync($"order {i}", limit.Token);
    }

    Console.WriteLine($"{await taken.Task.WaitAsync(limit.Token)} has taken {Messages} messages.");
    return;
}

int count = 0;
await foreach (var message in orders.ReadAllAsync(cancellationToken: limit.Token))
{
    if (++count == Messages)
    {
        break;
    }
}

Console.WriteLine($"{node.Id} has read {count} messages.");
// Its last receipt is on its way: it stays until it is ended.
await Task.Delay(Timeout.Infinite, limit.Token);

void OnReceipt(Receipt receipt)
{
    if (receipt.Node != node.Id && receipt.Through == Messages)
    {
        taken.TrySetResult(receipt.Node);
    }
}
