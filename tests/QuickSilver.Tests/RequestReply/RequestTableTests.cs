using QuickSilver.RequestReply.Pending;

namespace QuickSilver.Tests.RequestReply;

public sealed class RequestTableTests
{
    [Fact]
    public void Places_are_taken_from_the_bottom_and_an_id_is_never_given_twice()
    {
        var table = new RequestTable<string>(3);
        var ids = new HashSet<long>();
        for (int round = 0; round < 100; round++)
        {
            Assert.True(table.TryTake(out long id));
            table.Set(id, "a");
            Assert.True(ids.Add(id));
            Assert.Equal("a", table.Find(id));
            table.Return(id);
            Assert.Null(table.Find(id));
        }

        Assert.Equal((0, 1), (table.Count, table.Used));
    }

    [Fact]
    public void A_full_table_gives_no_place_until_one_is_returned()
    {
        var table = new RequestTable<string>(2);
        Assert.True(table.TryTake(out long first));
        Assert.True(table.TryTake(out _));
        Assert.False(table.TryTake(out _));
        Assert.Equal((2, 2), (table.Count, table.Used));
        table.Return(first);
        Assert.True(table.TryTake(out long third));
        Assert.NotEqual(first, third);
        Assert.Null(table.Find(1 << 19));
    }

    [Fact]
    public void Threads_that_take_and_return_places_never_share_one()
    {
        const int Places = 8;
        var table = new RequestTable<object>(Places);
        var threads = Enumerable.Range(0, 4).Select(_ => new Thread(() =>
        {
            var mine = new object();
            for (int i = 0; i < 200_000; i++)
            {
                if (table.TryTake(out long id))
                {
                    Assert.Null(table.Find(id));
                    table.Set(id, mine);
                    Assert.Same(mine, table.Find(id));
                    table.Return(id);
                }
            }
        })).ToList();
        threads.ForEach(static thread => thread.Start());
        threads.ForEach(static thread => thread.Join());
        Assert.Equal(0, table.Count);
        for (int i = 0; i < Places; i++)
        {
            Assert.True(table.TryTake(out _));
        }

        Assert.False(table.TryTake(out _));
    }
}
