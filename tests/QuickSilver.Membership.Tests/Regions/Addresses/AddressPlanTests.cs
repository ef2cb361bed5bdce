using System.Net;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Regions.Addresses;
using QuickSilver.Membership.Service;

namespace QuickSilver.Membership.Tests.Regions.Addresses;

public sealed class AddressPlanTests
{
    private static AddressPlan Plan(string cluster = "test", int prefix = 14) => new(cluster, IPNetwork.Parse($"239.192.0.0/{prefix}"));

    [Fact]
    public void Every_live_region_has_an_address_of_its_own_within_the_range()
    {
        var plan = Plan(prefix: 24);
        var groups = Enumerable.Range(1, 256).Select(id => plan.Take((ulong)id)).ToArray();
        Assert.Equal(256, groups.Select(group => group.Address).Distinct().Count());
        Assert.All(groups, group => Assert.StartsWith("239.192.0.", group.Address.ToString()));
        Assert.All(groups, group => Assert.InRange(group.Port, GroupPorts.DefaultFirst, GroupPorts.DefaultLast));
        Assert.Equal(0, plan.Shared);
    }

    [Fact]
    public void Groups_of_IPv6_lie_within_their_range_differ_and_come_back() =>
        Prop.ForAll<byte, ulong>(TryRange).Check(Config.QuickThrowOnFailure);

    private static void TryRange(byte size, ulong first)
    {
        var range = IPNetwork.Parse($"ff15::5153:8000:0/{119 + (size % 8)}");
        var plan = new AddressPlan("test", range, new GroupPorts(5000, 5000));
        int count = 1 << (128 - range.PrefixLength);
        var groups = Enumerable.Range(0, count).Select(id => plan.Take(first + (ulong)id)).ToArray();
        Assert.Equal(count, groups.Select(group => group.Address).Distinct().Count());
        Assert.All(groups, group => Assert.True(range.Contains(group.Address)));
        for (int i = 0; i < count; i++)
        {
            plan.Release((ulong)i, groups[i], configuration: 1);
        }

        plan.Settle(1, []);
        Assert.Equal(0, plan.Claimed);
    }

    [Fact]
    public void Members_of_the_other_kind_get_groups_of_the_default_range_of_their_kind()
    {
        var options = new MembershipServiceOptions { MulticastRange = IPNetwork.Parse("239.10.0.0/16") };
        Assert.Equal(IPNetwork.Parse("239.10.0.0/16"), options.RangeFor(IPAddress.Loopback));
        Assert.Equal(IPNetwork.Parse("ff15::5153:8000:0/98"), options.RangeFor(IPAddress.IPv6Loopback));
        options = options with { MulticastRange = IPNetwork.Parse("ff18::/112") };
        Assert.Equal(IPNetwork.Parse("ff18::/112"), options.RangeFor(IPAddress.IPv6Loopback));
        Assert.Equal(IPNetwork.Parse("239.192.0.0/14"), options.RangeFor(IPAddress.Loopback));
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
    public void Groups_have_no_port_that_the_system_gives_to_any_program()
    {
        var ephemeral = EphemeralPorts.Parse("20000 60999", "30000,30010-30019");
        var ports = new GroupPorts(19_990, 40_000, ephemeral);
        Assert.Equal(10 + 1 + 10, ports.Count);
        Assert.Equal([19_990, 19_999, 30_000, 30_010, 30_019], ((int[])[0, 9, 10, 11, 20]).Select(index => ports[index]));
        Assert.False(ports.IsAllEphemeral);
        var plan = new AddressPlan("test", IPNetwork.Parse("239.192.0.0/24"), ports);
        Assert.All(Enumerable.Range(1, 256), id => Assert.False(ephemeral.Contains(plan.Take((ulong)id).Port)));
    }

    [Fact]
    public void A_range_of_which_the_system_leaves_nothing_is_used_as_it_is()
    {
        var ports = new GroupPorts(10_000, 20_000, EphemeralPorts.Parse("1024\t65535\n", "\n"));
        Assert.True(ports.IsAllEphemeral);
        Assert.Equal((10_001, 10_000, 20_000), (ports.Count, ports[0], ports[10_000]));
    }

    [Fact]
    public void When_all_ports_of_all_addresses_are_used_up_they_are_shared_and_each_is_free_again_with_its_last_region()
    {
        var plan = new AddressPlan("test", IPNetwork.Parse("239.192.0.0/30"), new GroupPorts(5000, 5001));
        var groups = Enumerable.Range(1, 20).Select(id => plan.Take((ulong)id)).ToArray();
        Assert.InRange(groups.Distinct().Count(), 5, 8);
        Assert.Equal(groups.Distinct().Count(), plan.Claimed);
        foreach (var group in groups)
        {
            plan.Release(1, group, configuration: 1);
        }

        plan.Settle(1, []);
        Assert.Equal(0, plan.Claimed);
    }

    [Fact]
    public void An_address_rests_until_all_nodes_have_settled_past_the_end_of_its_region()
    {
        var plan = Plan(prefix: 30);
        var groups = Enumerable.Range(1, 4).Select(id => plan.Take((ulong)id)).ToArray();
        plan.Release(3, groups[2], configuration: 10);
        plan.Settle(9, []);
        Assert.DoesNotContain(plan.Take(5), groups);
        plan.Settle(10, []);
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
    [InlineData("ff15::5153:8000:0", 96)]
    [InlineData("ff15::5153:8000:0", 127)]
    [InlineData("fd00::8000:0", 98)]
    public void A_range_that_is_not_multicast_or_too_large_or_too_small_is_refused(string rangeBase, int prefix) =>
        Assert.Throws<ArgumentException>(() => new AddressPlan("test", new IPNetwork(IPAddress.Parse(rangeBase), prefix)));
}
