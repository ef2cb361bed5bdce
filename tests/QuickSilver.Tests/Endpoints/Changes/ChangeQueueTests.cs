using QuickSilver.Endpoints.Changes;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Endpoints.Changes;

public sealed class ChangeQueueTests
{
    private readonly ChangeQueue<string, int> _queue = new(TaskCreationOptions.RunContinuationsAsynchronously);

    [Fact]
    public void Only_the_last_change_of_each_key_waits_and_at_the_place_of_the_first()
    {
        for (int i = 0; i < 1000; i++)
        {
            _queue.Put("a", i);
            _queue.Put("b", -i);
        }

        Assert.Equal(2, _queue.Count);
        Assert.True(_queue.TryTake(out int first, out _));
        Assert.True(_queue.TryTake(out int second, out _));
        Assert.Equal((999, -999), (first, second));
    }

    [Fact]
    public void A_change_can_be_withdrawn_until_it_is_taken()
    {
        _queue.Put("a", 1);
        Assert.True(_queue.TryWithdraw("a"));
        Assert.False(_queue.TryWithdraw("a"));
        Assert.False(_queue.TryTake(out _, out var wait));
        Assert.False(wait!.IsCompleted);
    }

    [Fact]
    public async Task A_wait_ends_with_the_next_change_and_with_the_end()
    {
        Assert.False(_queue.TryTake(out _, out var wait));
        _queue.Put("a", 1);
        await wait!.OrFail();
        Assert.True(_queue.TryTake(out _, out _));
        Assert.False(_queue.TryTake(out _, out wait));
        _queue.End(new IOException("over"));
        await wait!.OrFail();
        _queue.Put("b", 2);
        Assert.Throws<IOException>(() => _queue.TryTake(out _, out _));
    }

    [Fact]
    public void Items_that_wait_at_the_end_are_still_taken()
    {
        _queue.Put("a", 1);
        _queue.End(null);
        Assert.True(_queue.TryTake(out int last, out _));
        Assert.Equal(1, last);
        Assert.False(_queue.TryTake(out _, out var wait));
        Assert.Null(wait);
    }
}
