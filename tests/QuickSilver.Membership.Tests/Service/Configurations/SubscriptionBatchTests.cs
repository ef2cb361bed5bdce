using QuickSilver.Membership.Service.Configurations;


namespace QuickSilver.Membership.Tests.Service.Configurations;

public sealed class SubscriptionBatchTests
{
    private readonly SubscriptionBatch _batch = new(Ms(100), Ms(5));

    [Fact]
    public void The_first_change_after_a_quiet_time_goes_out_almost_at_once()
    {
        Assert.True(_batch.Mark(Ms(1000)));
        Assert.Equal(Ms(1005), _batch.Due);
        Assert.False(_batch.Mark(Ms(1003)));
        Assert.Equal(Ms(1005), _batch.Due);
    }

    [Fact]
    public void Under_a_stream_of_changes_a_configuration_gathers_what_came_since_the_last()
    {
        Make(Ms(1000), bytes: 1000);
        Assert.True(_batch.Mark(Ms(1010)));
        Assert.Equal(Ms(1100), _batch.Due);
    }

    [Fact]
    public void Changes_one_after_another_go_out_almost_at_once_some_32_times_and_again_after_quiet()
    {
        var now = Ms(1000);
        var waits = new List<double>();
        for (int i = 0; i < 40; i++)
        {
            _batch.Mark(now);
            waits.Add((_batch.Due!.Value - now).TotalMilliseconds);
            now = _batch.Due.Value;
            _batch.OnTaken(now);
            _batch.OnAnnounced(1000);
        }

        Assert.All(waits.Take(33), static wait => Assert.Equal(5, wait));
        Assert.All(waits.Skip(33), static wait => Assert.Equal(100, wait));
        now += Ms(100 + (2 * 100));
        for (int i = 0; i < 3; i++)
        {
            _batch.Mark(now);
            Assert.Equal(now + Ms(5), _batch.Due);
            now = _batch.Due!.Value;
            _batch.OnTaken(now);
            _batch.OnAnnounced(1000);
        }

        _batch.Mark(now);
        Assert.Equal(now + Ms(100), _batch.Due);
    }

    [Fact]
    public void A_few_changes_to_a_large_cluster_are_followed_by_the_rest_that_their_bytes_need()
    {
        Make(Ms(1000), bytes: 160_000, changes: 1);
        _batch.Mark(Ms(1001));
        Assert.Equal(Ms(1040), _batch.Due);
    }

    [Theory]
    [InlineData(1_000_000, 250)]
    [InlineData(2_000_000, 500)]
    [InlineData(100_000_000, 1000)]
    public void After_a_large_configuration_it_rests_longer_and_never_more_than_a_second(long bytes, int restMilliseconds)
    {
        Make(Ms(1000), bytes);
        _batch.Mark(Ms(1010));
        Assert.Equal(Ms(1000 + restMilliseconds), _batch.Due);
    }

    [Fact]
    public void A_small_one_ends_the_long_rest()
    {
        Make(Ms(1000), bytes: 2_000_000);
        Make(Ms(1500), bytes: 100);
        _batch.Mark(Ms(1510));
        Assert.Equal(Ms(1600), _batch.Due);
    }

    private static TimeSpan Ms(int milliseconds) => TimeSpan.FromMilliseconds(milliseconds);

    private void Make(TimeSpan now, long bytes, int changes = 1000)
    {
        for (int i = 0; i < changes; i++)
        {
            _batch.Mark(now);
        }

        _batch.OnTaken(now);
        _batch.OnAnnounced(bytes);
    }
}
