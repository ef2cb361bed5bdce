using QuickSilver.Core.Flow;

namespace QuickSilver.Core.Tests.Flow;

public sealed class WindowTests
{
    [Fact]
    public void A_window_gives_what_it_has_and_takes_it_back()
    {
        var window = new Window(10, FlowUnit.Bytes);
        Assert.True(window.TryTake(6));
        Assert.False(window.TryTake(5));
        Assert.True(window.TryTake(4));
        Assert.False(window.IsOpen);
        window.Return(6);
        Assert.True(window.IsOpen);
        Assert.Equal(4, window.Outstanding);
    }

    [Fact]
    public void An_item_larger_than_the_window_passes_alone()
    {
        var window = new Window(10, FlowUnit.Bytes);
        Assert.True(window.TryTake(1));
        Assert.False(window.TryTake(25));
        window.Return(1);
        Assert.True(window.TryTake(25));
        Assert.False(window.TryTake(1));
    }

    [Fact]
    public void A_limit_that_sinks_below_what_is_out_keeps_the_window_closed()
    {
        var window = new Window(10, FlowUnit.Bytes);
        Assert.True(window.TryTake(8));
        window.Limit = 4;
        Assert.False(window.IsOpen);
        Assert.False(window.TryTake(1));
        window.Return(4);
        Assert.Equal(TimeSpan.MaxValue, window.OpensAt(TimeSpan.Zero));
        window.Return(1);
        Assert.Equal(TimeSpan.Zero, window.OpensAt(TimeSpan.Zero));
    }

    [Fact]
    public void Bytes_bound_memory_and_items_bound_concurrency()
    {
        var bytes = new Window(1000, FlowUnit.Bytes);
        var items = new Window(1000, FlowUnit.Items);
        bytes.Charge(default, items: 2, bytes: 300);
        items.Charge(default, items: 2, bytes: 300);
        Assert.Equal(300, bytes.Outstanding);
        Assert.Equal(2, items.Outstanding);
    }

    [Fact]
    public void Only_taken_room_can_be_released()
    {
        var window = new Window(10, FlowUnit.Bytes);
        window.TryTake(3);
        Assert.Throws<InvalidOperationException>(() => window.Return(4));
        Assert.Throws<InvalidOperationException>(() => window.Return(-1));
        Assert.Throws<ArgumentOutOfRangeException>(() => window.TryTake(-1));
        Assert.Throws<ArgumentOutOfRangeException>(() => window.Limit = 0);
        Assert.Equal(3, window.Outstanding);
    }
}
