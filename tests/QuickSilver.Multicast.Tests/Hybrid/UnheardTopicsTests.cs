using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Hybrid;

// For how long a sender does not use a topic's address for a region of which a member does not hear it.
public sealed class UnheardTopicsTests
{
    private const ulong Topic = 1;
    private const ulong Region = 2;

    private readonly HandDrivenEnvironment _environment = new();
    private readonly UnheardTopics _unheard;

    public UnheardTopicsTests() => _unheard = new UnheardTopics(_environment);

    [Fact]
    public void A_report_holds_for_a_minute_and_for_twice_as_long_after_each_try_that_is_reported_too()
    {
        Assert.Equal([1, 2, 4, 8, 16, 32, 60, 60], Enumerable.Range(0, 8).Select(_ => ReportAndWait()));
    }

    [Fact]
    public void A_try_that_is_not_reported_for_as_long_ends_the_doubling()
    {
        Assert.Equal(1, ReportAndWait());
        Assert.Equal(2, ReportAndWait());
        _environment.Advance(TimeSpan.FromMinutes(2));

        Assert.Equal(1, ReportAndWait());
    }

    [Fact]
    public void Reports_while_one_holds_change_nothing()
    {
        _unheard.Add(Topic, Region);
        _environment.Advance(TimeSpan.FromSeconds(59));
        _unheard.Add(Topic, Region);
        Assert.True(_unheard.Contains(Topic, Region));

        _environment.Advance(TimeSpan.FromSeconds(1));
        Assert.False(_unheard.Contains(Topic, Region));
    }

    [Fact]
    public void A_report_is_of_one_topic_in_one_region()
    {
        _unheard.Add(Topic, Region);

        Assert.False(_unheard.Contains(Topic, Region + 1));
        Assert.False(_unheard.Contains(Topic + 1, Region));
    }

    [Fact]
    public void A_full_table_takes_a_report_when_old_ones_are_forgotten()
    {
        for (ulong topic = 1; topic <= UnheardTopics.Most + 1; topic++)
        {
            _unheard.Add(topic, Region);
        }

        Assert.True(_unheard.Contains(UnheardTopics.Most, Region));
        Assert.False(_unheard.Contains(UnheardTopics.Most + 1, Region));
        _environment.Advance(TimeSpan.FromMinutes(2));

        _unheard.Add(UnheardTopics.Most + 1, Region);
        Assert.True(_unheard.Contains(UnheardTopics.Most + 1, Region));
    }

    // How many minutes the report holds.
    private int ReportAndWait()
    {
        _unheard.Add(Topic, Region);
        int minutes = 0;
        while (_unheard.Contains(Topic, Region))
        {
            _environment.Advance(TimeSpan.FromMinutes(1));
            minutes++;
        }

        return minutes;
    }
}
