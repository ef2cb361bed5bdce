using System.IO.Pipelines;
using System.Text;
using QuickSilver.Groups;

namespace TradingFloor;

// The book of one trader as a state of the group: all members apply the same orders in the same order, and a trader that joins gets the
// book of another one.
internal sealed class ReplicatedBook : IGroupHandler<Order>
{
    private readonly OrderBook _book = new();
    private readonly TaskCompletionSource<byte[]> _closed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private GroupView? _view;
    private long _orders;
    private long _trades;

    /// <summary>The book as it is when the bell rings, which is at the same place in the order for all.</summary>
    public Task<byte[]> Closed => _closed.Task;

    public GroupView? View => Volatile.Read(ref _view);

    public long Orders => Interlocked.Read(ref _orders);

    public long Trades => Interlocked.Read(ref _trades);

    public ValueTask OnEventAsync(GroupEvent<Order> one, CancellationToken cancellationToken)
    {
        Volatile.Write(ref _view, one.View);
        if (one.TryGetMessage(out var order) && !_closed.Task.IsCompleted)
        {
            if (order.IsBell)
            {
                _closed.SetResult(ToBytes());
            }
            else
            {
                _book.Add(order);
                ShowCounts();
            }
        }

        return ValueTask.CompletedTask;
    }

    public async ValueTask WriteStateAsync(PipeWriter to, CancellationToken cancellationToken) =>
        await to.WriteAsync(ToBytes(), cancellationToken);

    public ValueTask ReadStateAsync(PipeReader from, GroupView view, CancellationToken cancellationToken)
    {
        using var reader = new BinaryReader(from.AsStream(), Encoding.UTF8);
        _book.Read(reader);
        Volatile.Write(ref _view, view);
        ShowCounts();
        return ValueTask.CompletedTask;
    }

    private byte[] ToBytes()
    {
        using var bytes = new MemoryStream();
        using var writer = new BinaryWriter(bytes, Encoding.UTF8);
        _book.Write(writer);
        writer.Flush();
        return bytes.ToArray();
    }

    private void ShowCounts()
    {
        Interlocked.Exchange(ref _orders, _book.Orders);
        Interlocked.Exchange(ref _trades, _book.Trades);
    }
}
