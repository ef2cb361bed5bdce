using System.Net;
using QuickSilver.Membership.Regions;

namespace QuickSilver.Membership.Tests;

public sealed class AddressPlanTests
{
    private static AddressPlan Plan(string cluster = "test", int prefix = 14) => new(cluster, IPAddress.Parse("239.192.0.0"), prefix);

    [Fact]
    public void Every_live_region_has_an_address_of_its_own_within_the_range()
    {
        var plan = Plan(prefix: 24);
        var groups = Enumerable.Range(1, 256).Select(id => plan.Take((ulong)id)).ToArray();
        Assert.Equal(256, groups.Select(group => group.Address).Distinct().Count());
        Assert.All(groups, group => Assert.StartsWith("239.192.0.", group.Address.ToString()));
        Assert.All(groups, group => Assert.InRange(group.Port, 10_000, 60_000));
        Assert.Equal(0, plan.Shared);
    }

    [Fact]
    public void A_range_that_is_used_up_shares_addresses_on_other_ports()
    {
        var plan = Plan(prefix: 30);
        var groups = Enumerable.Range(1, 1000).Select(id => plan.Take((ulong)id)).ToArray();
        Assert.Equal(1000, groups.Distinct().Count());
        Assert.Equal(996, plan.Shared);
    }

    [Fact]
    public void An_address_rests_until_everybody_settled_past_the_end_of_its_region()
    {
        var plan = Plan(prefix: 30);
        var groups = Enumerable.Range(1, 4).Select(id => plan.Take((ulong)id)).ToArray();
        plan.Release(groups[2], configuration: 10);
        plan.Settle(9);
        Assert.DoesNotContain(plan.Take(5), groups);
        plan.Settle(10);
        Assert.Equal(4, plan.Claimed);
        Assert.Equal(groups[2].Address, plan.Take(6).Address);
    }

    [Fact]
    public void Two_clusters_seldom_meet()
    {
        var one = Plan("one");
        var two = Plan("two");
        var groups = Enumerable.Range(1, 50).Select(id => one.Take((ulong)id)).ToHashSet();
        Assert.DoesNotContain(Enumerable.Range(1, 50).Select(id => two.Take((ulong)id)), groups.Contains);
    }

    [Theory]
    [InlineData("239.192.0.0", 7)]
    [InlineData("239.192.0.0", 31)]
    [InlineData("10.0.0.0", 14)]
    [InlineData("ff02::1", 14)]
    public void A_range_that_is_not_multicast_is_refused(string rangeBase, int prefix) =>
        Assert.Throws<ArgumentException>(() => new AddressPlan("test", IPAddress.Parse(rangeBase), prefix));
}
