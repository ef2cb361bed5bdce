using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Tests.Channels;

// I1, I8: a new subscriber begins exactly at the first message sent under its own or a later configuration.
public sealed class StartTableTests
{
    [Fact]
    public void A_subscription_begins_at_the_first_entry_not_older_than_itself()
    {
        var bytes = Encode((10, 1), (20, 50), (30, 80));

        Assert.Equal(1, StartTable.FirstFor(bytes, 5, out _));
        Assert.Equal(50, StartTable.FirstFor(bytes, 11, out _));
        Assert.Equal(50, StartTable.FirstFor(bytes, 20, out _));
        Assert.Equal(80, StartTable.FirstFor(bytes, 21, out _));
    }

    [Fact]
    public void A_subscription_newer_than_the_table_is_not_answered() => Assert.Equal(0, StartTable.FirstFor(Encode((10, 1)), 11, out _));

    [Fact]
    public void Only_the_newest_entry_stays_when_the_older_ones_are_forgotten()
    {
        var table = new StartTable();
        table.Add(10, 1);
        table.Add(20, 50);
        table.Add(30, 80);

        Assert.True(table.IsLong);
        table.ForgetOlder();
        var bytes = Write(table);

        Assert.False(table.IsLong);
        Assert.Equal(1, bytes[0]);
        Assert.Equal(80, StartTable.FirstFor(bytes, 20, out _));
    }

    [Fact]
    public void An_older_configuration_is_not_added_again()
    {
        var table = new StartTable();
        table.Add(10, 1);
        table.Add(10, 7);
        table.Add(9, 7);

        Assert.Equal(1, Write(table)[0]);
    }

    [Fact]
    public void Configurations_between_which_nothing_was_sent_share_an_entry()
    {
        var table = new StartTable();
        for (int i = 1; i <= 100; i++)
        {
            table.Add(i, 1);
        }

        table.Add(101, 7);
        var bytes = Write(table);

        Assert.Equal(2, bytes[0]);
        Assert.Equal(1, StartTable.FirstFor(bytes, 1, out _));
        Assert.Equal(1, StartTable.FirstFor(bytes, 100, out _));
        Assert.Equal(7, StartTable.FirstFor(bytes, 101, out _));
    }

    [Fact]
    public void A_full_table_keeps_every_entry_until_they_are_forgotten()
    {
        var table = new StartTable();
        for (int i = 1; i <= StartTable.MaxEntries; i++)
        {
            Assert.False(table.IsFull);
            table.Add(i, i * 10);
        }

        Assert.True(table.IsFull);
        Assert.Equal(10, StartTable.FirstFor(Write(table), 1, out _));
        table.ForgetOlder();
        Assert.False(table.IsFull);
    }

    [Fact]
    public void Bytes_that_are_no_table_are_refused()
    {
        Assert.Equal(-1, StartTable.Measure([]));
        Assert.Equal(-1, StartTable.Measure([1, 2, 3]));
        Assert.Equal(-1, StartTable.Measure([200]));
        Assert.Equal(1, StartTable.Measure([0]));
    }

    private static byte[] Encode(params (long Configuration, long First)[] entries)
    {
        var table = new StartTable();
        foreach (var (configuration, first) in entries)
        {
            table.Add(configuration, first);
        }

        return Write(table);
    }

    private static byte[] Write(StartTable table)
    {
        var bytes = new byte[table.EncodedBytes];
        table.Write(bytes);
        Assert.Equal(bytes.Length, StartTable.Measure(bytes));
        return bytes;
    }
}
