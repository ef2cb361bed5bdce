using QuickSilver.Tool.Dashboard;

namespace QuickSilver.Tool.Tests.Dashboard;

public sealed class SignsBroadcastTests
{
    private readonly SignsBroadcast _broadcast = new(most: 2);

    [Fact]
    public void Every_browser_gets_the_same_bytes()
    {
        using var one = _broadcast.TryAdd()!;
        using var other = _broadcast.TryAdd()!;
        byte[] frame = [1, 2, 3];
        _broadcast.Send(frame);
        Assert.True(one.Frames.TryRead(out var first) && other.Frames.TryRead(out var second) && first.Equals(second));
    }

    [Fact]
    public void A_browser_that_does_not_keep_up_gets_the_newest()
    {
        using var slow = _broadcast.TryAdd()!;
        for (byte i = 0; i < 100; i++)
        {
            _broadcast.Send(new[] { i });
        }

        Assert.Equal([98, 99], Read(slow));
    }

    [Fact]
    public void One_that_does_not_keep_up_holds_up_no_other()
    {
        using var slow = _broadcast.TryAdd()!;
        using var quick = _broadcast.TryAdd()!;
        for (byte i = 0; i < 10; i++)
        {
            _broadcast.Send(new[] { i });
            Assert.Equal([i], Read(quick));
        }
    }

    [Fact]
    public void Too_many_are_refused_until_one_leaves()
    {
        using var one = _broadcast.TryAdd()!;
        var other = _broadcast.TryAdd()!;
        Assert.Null(_broadcast.TryAdd());
        other.Dispose();
        other.Dispose();
        Assert.Equal(1, _broadcast.Viewers);
        using var next = _broadcast.TryAdd();
        Assert.NotNull(next);
        _broadcast.Send(new byte[] { 7 });
        Assert.Equal([7], Read(next));
        Assert.Empty(Read(other));
    }

    [Fact]
    public void Where_browsers_are_is_named()
    {
        using var one = _broadcast.TryAdd(System.Net.IPAddress.Loopback);
        using var other = _broadcast.TryAdd(System.Net.IPAddress.Loopback);
        Assert.Equal("2 from 127.0.0.1", _broadcast.Holders);
    }

    private static List<int> Read(SignsBroadcast.Viewer viewer)
    {
        var read = new List<int>();
        while (viewer.Frames.TryRead(out var frame))
        {
            read.Add(frame.Span[0]);
        }

        return read;
    }
}
