using System.Net;
using System.Net.Sockets;
using QuickSilver.Composition;

namespace QuickSilver.Tests.Composition;

public sealed class InterfaceChoiceTests
{
    private static readonly LocalInterface Lo = new("lo", [IPAddress.Loopback]) { CarriesMulticast = false };
    private static readonly LocalInterface Eth0 = new("eth0", [Ip("10.0.0.5")]) { HasGateway = true };
    private static readonly LocalInterface Eth1 = new("eth1", [Ip("10.1.0.5"), Ip("172.16.0.5")]);
    private static readonly LocalInterface Eth2 = new("eth2", [Ip("192.168.0.5")]) { IsUp = false };
    private static readonly LocalInterface Tap = new("tap0", []);
    private static readonly LocalInterface[] All = [Lo, Eth0, Eth1, Eth2, Tap];
    private static readonly LocalInterface Both = new("eth5", [Ip("10.5.0.5"), Ip("fd05::5"), Ip("fe80::5%15")]);
    private static readonly LocalInterface OnlyV6 = new("eth6", [Ip("fd06::5"), Ip("fe80::6%16"), Ip("fe80::7%16")]);
    private static readonly LocalInterface OnlyLink = new("eth7", [Ip("fe80::7%17")]);
    private static readonly LocalInterface[] AllV6 = [Lo, Both, OnlyV6, OnlyLink];

    [Theory]
    [InlineData("10.0.0.5", "10.0.0.5 (eth0): the option Interface names this address")]
    [InlineData("127.0.0.1", "127.0.0.1 (lo): the option Interface names this address")]
    [InlineData("127.0.0.7", "127.0.0.7: the option Interface names this address")]
    [InlineData("eth0", "10.0.0.5 (eth0): the option Interface names this interface")]
    [InlineData("ETH1", "10.1.0.5 (eth1): the option Interface names this interface, and of its 2 addresses the node prefers this one")]
    [InlineData("10.1.0.0/16", "10.1.0.5 (eth1): the only address of this machine in 10.1.0.0/16")]
    [InlineData("172.16.0.0/12", "172.16.0.5 (eth1): the only address of this machine in 172.16.0.0/12")]
    [InlineData("auto", "10.0.0.5 (eth0): the only interface with a default gateway, of eth0 (10.0.0.5), eth1 (10.1.0.5, 172.16.0.5)")]
    public void Each_form_names_one_address_and_says_why(string wanted, string choice) =>
        Assert.Equal(choice, InterfaceChoice.Of(NodeInterface.Parse(wanted), All, towards: null).ToString());

    [Theory]
    [InlineData("10.0.0.6", "an address of this machine: 127.0.0.1, 10.0.0.5, 10.1.0.5, 172.16.0.5, 192.168.0.5.")]
    [InlineData("eth9", "an interface of this machine: lo (127.0.0.1), eth0 (10.0.0.5), eth1 (10.1.0.5, 172.16.0.5), ")]
    [InlineData("eth2", "an interface that is up, which eth2 is not.")]
    [InlineData("192.168.0.5", "an interface that is up, which eth2 is not.")]
    [InlineData("192.168.0.0/16", "an interface that is up, which eth2 is not.")]
    [InlineData("tap0", "an interface with an address, which tap0 does not have: lo (127.0.0.1), eth0 (10.0.0.5), ")]
    [InlineData("11.0.0.0/8", "a subnet that contains an address of this machine: lo (127.0.0.1), ")]
    [InlineData("10.0.0.0/8", "one address of this machine, not 2. Use one of them: 10.0.0.5 (eth0), 10.1.0.5 (eth1).")]
    public void A_choice_that_fits_no_interface_or_several_is_refused_with_the_existing_ones(string wanted, string allowed)
    {
        var failure = Assert.Throws<QuickSilverOptionsException>(() => InterfaceChoice.Of(NodeInterface.Parse(wanted), All, null));
        Assert.StartsWith($"The option Interface is {wanted}. Allowed: ", failure.Message);
        Assert.Contains(allowed, failure.Message);
    }

    [Fact]
    public void Auto_takes_the_address_that_leads_to_the_service_then_a_gateway_then_the_first_and_at_last_loopback()
    {
        Assert.Equal(
            "172.16.0.5 (eth1): the system reaches the membership service from this address", Auto(All, towards: Ip("172.16.0.5")));
        Assert.Equal(
            "10.1.0.5 (eth1): the only interface that is up and carries multicast", Auto([Lo, Eth1, Eth2, Tap]));
        Assert.Equal(
            "10.0.0.5 (eth0): the first interface with a default gateway, of eth0 (10.0.0.5), eth3 (10.3.0.5)",
            Auto([Lo, Eth0, new("eth3", [Ip("10.3.0.5")]) { HasGateway = true }]));
        Assert.Equal(
            "10.1.0.5 (eth1): the first interface that is up and carries multicast, of eth1 (10.1.0.5, 172.16.0.5), eth4 (10.4.0.5)",
            Auto([Eth1, new("eth4", [Ip("10.4.0.5")])]));
        Assert.StartsWith("127.0.0.1 (lo): no other interface is up", Auto([Lo, Eth2, Tap]));
    }

    [Theory]
    [InlineData("fd05::5", "fd05::5 (eth5): the option Interface names this address")]
    [InlineData("fe80::6", "fe80::6%16 (eth6): the option Interface names this address")]
    [InlineData("fe80::7%17", "fe80::7%17 (eth7): the option Interface names this address")]
    [InlineData("eth5", "10.5.0.5 (eth5): the option Interface names this interface")]
    [InlineData("eth6", "fd06::5 (eth6): the option Interface names this interface, and of its 3 addresses the node prefers this one")]
    [InlineData("eth7", "fe80::7%17 (eth7): the option Interface names this interface")]
    [InlineData("fd06::/64", "fd06::5 (eth6): the only address of this machine in fd06::/64")]
    public void An_address_of_IPv6_is_named_as_well(string wanted, string choice) =>
        Assert.Equal(choice, InterfaceChoice.Of(NodeInterface.Parse(wanted), AllV6, towards: null).ToString());

    [Fact]
    public void The_kind_of_the_services_address_decides_and_IPv6_is_used_where_there_is_no_IPv4()
    {
        var family = AddressFamily.InterNetworkV6;
        Assert.Equal(Ip("fd05::5"), InterfaceChoice.Of(NodeInterface.Parse("eth5"), AllV6, null, family).Address);
        var failure = Assert.Throws<QuickSilverOptionsException>(
            () => InterfaceChoice.Of(NodeInterface.Parse("lo"), AllV6, null, family));
        Assert.Contains("an interface with an IPv6 address, which lo does not have", failure.Message);
        Assert.StartsWith("10.5.0.5 (eth5): the only interface that is up", Auto(AllV6));
        Assert.StartsWith("fd06::5 (eth6): the only interface that is up", Auto([Lo, OnlyV6, OnlyLink]));
        Assert.StartsWith("127.0.0.1 (lo): no other interface is up", Auto([Lo, OnlyLink]));
    }

    [Fact]
    public void A_link_local_address_of_several_interfaces_is_refused_with_each()
    {
        var failure = Assert.Throws<QuickSilverOptionsException>(() => InterfaceChoice.Of(NodeInterface.Parse("fe80::7"), AllV6, null));
        Assert.Contains("fe80::7%eth6, fe80::7%eth7", failure.Message);
    }

    [Fact]
    public void A_subnet_with_one_address_that_is_not_floating_names_that_one()
    {
        var eth0 = new LocalInterface("eth0", [Ip("10.0.0.5"), Ip("10.0.0.100")]) { Floating = [Ip("10.0.0.100")] };
        string choice = InterfaceChoice.Of(NodeInterface.Parse("10.0.0.0/24"), [Lo, eth0], null).ToString();
        Assert.Equal("10.0.0.5 (eth0): the only address of this machine in 10.0.0.0/24 that is not a floating one", choice);
        Assert.Throws<QuickSilverOptionsException>(
            () => InterfaceChoice.Of(NodeInterface.Parse("10.0.0.0/24"), [eth0 with { Floating = eth0.Addresses }], null));
    }

    [Fact]
    public void Auto_takes_an_address_that_is_valid_on_its_link_only_if_there_is_no_other()
    {
        var link = new LocalInterface("eth0", [Ip("169.254.7.7")]) { HasGateway = true };
        Assert.StartsWith("10.1.0.5 (eth1)", Auto([Lo, link, Eth1]));
        Assert.StartsWith("fd06::5 (eth6)", Auto([Lo, link, OnlyV6]));
        Assert.StartsWith("169.254.7.7 (eth0)", Auto([Lo, link]));
    }

    [Fact]
    public void An_alternative_name_names_its_interface()
    {
        var eth0 = Eth0 with { Index = 7 };
        int IndexOf(string name) => name == "enp3s0" ? 7 : 0;
        Assert.Equal(Ip("10.0.0.5"), InterfaceChoice.Of(NodeInterface.Parse("enp3s0"), [Lo, eth0], null, null, IndexOf).Address);
        Assert.Throws<QuickSilverOptionsException>(
            () => InterfaceChoice.Of(NodeInterface.Parse("enp4s0"), [Lo, eth0], null, null, IndexOf));
    }

    [Fact]
    public void Addresses_are_ranked_by_how_long_and_how_far_they_hold()
    {
        (string Address, int Prefix)[] inOrder =
            [("10.0.0.5", 24), ("10.0.0.100", 32), ("fd00::5", 64), ("fd00::100", 128), ("169.254.7.7", 16), ("fe80::5", 64)];
        Assert.Equal(Enum.GetValues<AddressRank>(), inOrder.Select(static one => LocalInterfaces.RankOf(Ip(one.Address), one.Prefix)));
    }

    [Fact]
    public void Without_a_list_of_the_system_an_address_is_taken_as_it_is_and_a_name_is_refused()
    {
        Assert.Equal(Ip("10.9.9.9"), InterfaceChoice.Of(Ip("10.9.9.9"), null, null).Address);
        var failure = Assert.Throws<QuickSilverOptionsException>(() => InterfaceChoice.Of(NodeInterface.Parse("eth0"), null, null));
        Assert.Contains("does not report its interfaces", failure.Message);
    }

    [Theory]
    [InlineData("Auto", "auto")]
    [InlineData(" 10.0.0.5 ", "10.0.0.5")]
    [InlineData("10.0.0.0/8", "10.0.0.0/8")]
    [InlineData("Ethernet 2", "Ethernet 2")]
    [InlineData("10", "10")]
    [InlineData("::1", "::1")]
    public void A_text_is_read_and_written(string text, string written)
    {
        var one = NodeInterface.Parse(text);
        Assert.Equal(written, one.ToString());
        Assert.Equal(one, NodeInterface.Parse(written));
        Assert.True(NodeInterface.TryParse(text, null, out var same));
        Assert.Equal(one, same);
    }

    [Theory]
    [InlineData("", "is not an interface")]
    [InlineData("a\tb", "is not an interface")]
    [InlineData("10.0.0.x/8", "not a subnet")]
    [InlineData("10.0.0.0/33", "length of a prefix")]
    [InlineData("ff02::/16", "not a subnet")]
    public void A_text_that_is_none_of_the_forms_is_refused_with_the_reason(string text, string why)
    {
        Assert.Contains(why, Assert.Throws<FormatException>(() => NodeInterface.Parse(text)).Message);
        Assert.False(NodeInterface.TryParse(text, null, out _));
    }

    [Fact]
    public void The_loopback_interface_of_this_machine_is_found() =>
        Assert.Contains(LocalInterfaces.Read()!, static one => one.Addresses.Contains(IPAddress.Loopback));

    private static string Auto(LocalInterface[] known, IPAddress? towards = null) =>
        InterfaceChoice.Of(NodeInterface.Auto, known, towards).ToString();

    private static IPAddress Ip(string text) => IPAddress.Parse(text);
}
