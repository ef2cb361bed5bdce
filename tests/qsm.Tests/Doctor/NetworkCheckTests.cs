using System.Net;
using System.Net.Sockets;
using QuickSilver.Composition;
using QuickSilver.Tool.Doctor.Checks;
using QuickSilver.Tool.Doctor.Checks.Network;
using QuickSilver.Tool.Doctor.Facts;
using QuickSilver.Tool.Doctor.Facts.Probes;

namespace QuickSilver.Tool.Tests.Doctor;

// What is judged of a network and the hosts in it.
public sealed class NetworkCheckTests
{
    private static readonly IPAddress Local = IPAddress.Parse("10.0.0.5");
    private static readonly EchoTarget Service = new("the service", IPEndPoint.Parse("10.0.0.1:7400"), IsService: true);
    private static readonly EchoTarget First = new("node a", IPEndPoint.Parse("10.0.0.2:4000"), IsService: false);
    private static readonly EchoTarget Second = new("node b", IPEndPoint.Parse("10.0.0.3:4000"), IsService: false);
    private static readonly FirewallChain Input = new("inet", "filter", "input", IsInput: true);
    private static readonly FirewallChain Output = new("ip", "mine", "out", IsInput: false);

    [Fact]
    public void Firewalls_that_drop_nothing_are_in_order() => Assert.Equal(
        FindingStatus.Ok, Firewall(Answered(Service), Answered(First)).Status);

    [Fact]
    public void Firewalls_are_not_checked_where_no_host_can_answer() => Assert.Equal(FindingStatus.NotChecked, Firewall().Status);

    [Fact]
    public void A_firewall_that_lets_in_answers_only_is_reported()
    {
        var finding = Firewall(Service with { IsAnswered = true }, First with { IsAnswered = true, IsHeardUnsolicited = true });
        Assert.Equal(FindingStatus.Problem, finding.Status);
        Assert.Contains("not what others send first, by UDP from the service (10.0.0.1:7400).", finding.Text);
        Assert.Equal(
            new Remedy("nft 'insert rule inet filter input ip saddr 10.0.0.1 meta l4proto udp accept'"), Assert.Single(finding.Remedies));
    }

    [Fact]
    public void If_no_host_answers_this_host_is_the_suspect_and_its_own_chains_come_first()
    {
        var finding = Firewall(Service, First);
        Assert.Equal(FindingStatus.Problem, finding.Status);
        Assert.Contains("the service (10.0.0.1:7400) and node a (10.0.0.2:4000)", finding.Text);
        Assert.Equal(
            [
                new Remedy("nft 'insert rule inet filter input ip saddr { 10.0.0.1, 10.0.0.2 } meta l4proto udp accept'"),
                new Remedy("nft 'insert rule inet filter input ip saddr 10.0.0.5 meta l4proto udp accept'", "10.0.0.1"),
                new Remedy("nft 'insert rule inet filter input ip saddr 10.0.0.5 meta l4proto udp accept'", "10.0.0.2"),
            ],
            finding.Remedies);
    }

    [Fact]
    public void If_one_node_does_not_answer_it_is_the_suspect()
    {
        var finding = Firewall(Answered(Service), First, Answered(Second));
        Assert.Equal(FindingStatus.Problem, finding.Status);
        Assert.Equal("10.0.0.2", Assert.Single(finding.Remedies).Where);
    }

    [Fact]
    public void A_service_that_alone_does_not_answer_is_reported_but_no_problem()
    {
        var finding = Firewall(Service, Answered(First));
        Assert.Equal((FindingStatus.Warning, "10.0.0.1"), (finding.Status, Assert.Single(finding.Remedies).Where));
    }

    [Fact]
    public void A_firewall_of_this_host_that_refuses_to_send_is_named_as_that()
    {
        EchoTarget[] targets = [.. new[] { Service, First }.Select(one => one with { IsForbidden = true, Refusal = "Permission denied" })];
        var finding = Firewall(targets);
        Assert.Equal(FindingStatus.Problem, finding.Status);
        const string Accept = "ip daddr { 10.0.0.1, 10.0.0.2 } meta l4proto udp accept";
        Assert.Equal($"nft 'insert rule ip mine out {Accept}'", Assert.Single(finding.Remedies).Command);
    }

    [Fact]
    public void A_missing_route_is_reported_with_what_the_system_said()
    {
        var finding = Firewall(First with { Refusal = "Network is unreachable" });
        Assert.Equal(FindingStatus.Problem, finding.Status);
        Assert.Contains("node a (10.0.0.2:4000): Network is unreachable", finding.Text);
        Assert.Equal("ip route get 10.0.0.2 from 10.0.0.5", Assert.Single(finding.Remedies).Command);
    }

    [Fact]
    public void The_chains_of_a_firewall_are_found_in_what_nft_says() => Assert.Equal(
        [Input, Output, new FirewallChain("ip6", "other", "in6", IsInput: true)],
        FirewallReader.Parse("""
            table inet filter {
            	chain input {
            		type filter hook input priority filter; policy accept;
            	}
            	chain forward {
            		type filter hook forward priority filter; policy drop;
            	}
            	chain helper {
            	}
            }
            table ip mine {
            	chain out {
            		type filter hook output priority 0; policy accept;
            	}
            }
            table ip6 other {
            	chain in6 {
            		type filter hook input priority 0; policy accept;
            	}
            }
            """));

    [Theory]
    [InlineData(1500, 1472, FindingStatus.Ok)]
    [InlineData(9000, 1472, FindingStatus.Ok)]
    [InlineData(1450, 1472, FindingStatus.Problem)]
    [InlineData(1500, 8972, FindingStatus.Problem)]
    [InlineData(null, 1472, FindingStatus.NotChecked)]
    public void Packets_must_fit_the_interface(int? mtu, int packetBytes, object status) => Assert.Equal(
        status, MtuCheck.OfInterface(new MtuFacts("eth0", mtu, packetBytes)).Status);

    [Fact]
    public void An_interface_that_is_too_narrow_is_reported_with_both_ways_out() => Assert.Equal(
        [new Remedy("ip link set dev eth0 mtu 1500"), new Remedy("export QuickSilver__PacketBytes=1422", "every node")],
        MtuCheck.OfInterface(new MtuFacts("eth0", 1450, 1472)).Remedies);

    [Fact]
    public void A_path_that_loses_large_packets_is_reported_with_the_size_that_passes()
    {
        var finding = Path(new MtuFacts("eth0", 1500, 1472), new PathFacts("node a", 1252), new PathFacts("node b", 1472));
        Assert.Equal(FindingStatus.Problem, finding.Status);
        Assert.Contains("between this host and node a, but those of 1252 bytes do (an MTU of 1280)", finding.Text);
        Assert.Equal(new Remedy("export QuickSilver__PacketBytes=1252", "every node"), Assert.Single(finding.Remedies));
    }

    [Fact]
    public void The_headers_of_IPv6_are_larger()
    {
        int headers = MtuCheck.HeadersOf(AddressFamily.InterNetworkV6);
        var finding = MtuCheck.OfInterface(new MtuFacts("eth0", 1500, 1472, headers));
        Assert.Equal(
            [new Remedy("ip link set dev eth0 mtu 1520"), new Remedy("export QuickSilver__PacketBytes=1452", "every node")],
            finding.Remedies);
        int usual = NodeComposition.OnWire(new QuickSilverOptions(), IPAddress.Parse("fd00::5")).PacketBytes;
        Assert.Equal(FindingStatus.Ok, MtuCheck.OfInterface(new MtuFacts("eth0", 1500, usual, headers)).Status);
    }

    [Fact]
    public void A_path_is_not_blamed_for_the_interface()
    {
        Assert.Equal(FindingStatus.Ok, Path(new MtuFacts("eth0", 1500, 1472), new PathFacts("node a", 1472)).Status);
        Assert.Equal(FindingStatus.Ok, Path(new MtuFacts("eth0", 1280, 1472), new PathFacts("node a", 1252)).Status);
        Assert.Equal(FindingStatus.NotChecked, Path(new MtuFacts("eth0", 1500, 1472)).Status);
    }

    [Fact]
    public void Nodes_that_answer_sealed_packets_only_are_not_checked_and_the_service_is()
    {
        var udp = FirewallCheck.Of(new FirewallFacts(Local, [Answered(Service)], [Input]) { LeavesOutNodes = true }).ToList();
        Assert.Equal([FindingStatus.Ok, FindingStatus.NotChecked], udp.Select(static finding => finding.Status));
        Assert.Contains("the service (10.0.0.1:7400).", udp[0].Text);
        Assert.Contains("sealed packets only", udp[1].Text);

        var facts = new MtuFacts("eth0", 1500, 1472) { LeavesOutNodes = true };
        var path = MtuCheck.OfPaths([new PathFacts("the service", 1472)], facts).ToList();
        Assert.Equal([FindingStatus.Ok, FindingStatus.NotChecked], path.Select(static finding => finding.Status));
        Assert.Contains("sealed packets only", Assert.Single(MtuCheck.OfPaths([], facts)).Text);
        Assert.Contains("sealed packets only", Assert.Single(FirewallCheck.Of(new FirewallFacts(Local, [], [Input])
        {
            LeavesOutNodes = true,
        })).Text);
    }

    [Fact]
    public void A_host_without_a_firewall_is_not_blamed_and_each_command_comes_once()
    {
        EchoTarget[] targets = [Service, First with { EndPoint = new IPEndPoint(Service.EndPoint.Address, 4000) }];
        var lost = Assert.Single(FirewallCheck.Of(new FirewallFacts(Local, targets, [])));
        Assert.Contains("A firewall drops UDP, there or on the way", lost.Text);
        Assert.Equal(Service.EndPoint.Address.ToString(), Assert.Single(lost.Remedies).Where);

        var here = Answered(First) with { EndPoint = new IPEndPoint(Local, 4000) };
        Assert.Contains("All of them are on this host", Assert.Single(FirewallCheck.Of(new FirewallFacts(Local, [here], []))).Text);
    }

    [Fact]
    public void The_rules_and_routes_of_IPv6_are_those_of_IPv6()
    {
        var local = IPAddress.Parse("fd00::5");
        FirewallChain[] chains = [Input, Output, new("ip6", "mine", "in", IsInput: true), new("ip6", "mine", "out", IsInput: false)];
        EchoTarget[] targets =
        [
            Service with { EndPoint = IPEndPoint.Parse("[fd00::1]:7400") },
            First with { EndPoint = IPEndPoint.Parse("[fe80::2%3]:4000") },
        ];
        const string Accept = "ip6 saddr { fd00::1, fe80::2 } meta l4proto udp accept";
        Assert.Equal(
            [
                $"nft 'insert rule inet filter input {Accept}'",
                $"nft 'insert rule ip6 mine in {Accept}'",
                "nft 'insert rule inet filter input ip6 saddr fd00::5 meta l4proto udp accept'",
                "nft 'insert rule inet filter input ip6 saddr fd00::5 meta l4proto udp accept'",
            ],
            Assert.Single(FirewallCheck.Of(new FirewallFacts(local, targets, chains))).Remedies.Select(static remedy => remedy.Command));

        var multicast = new MulticastFacts("eth0", IPEndPoint.Parse("[ff15::5153:ffff:4a03]:7403")) { Chains = chains };
        Assert.Equal(
            ["nft 'insert rule inet filter input ip6 daddr ff00::/8 accept'", "nft 'insert rule ip6 mine in ip6 daddr ff00::/8 accept'"],
            Assert.Single(MulticastCheck.Of(multicast)).Remedies.Select(static remedy => remedy.Command));
        var route = Assert.Single(MulticastCheck.Of(multicast with { Fault = "Network is unreachable" }));
        Assert.Equal("ip -6 route add ff00::/8 dev eth0", Assert.Single(route.Remedies).Command);
        var peer = new MulticastPeer(IPAddress.Parse("fd00::9"), IsNamed: true) { AnswersUnicast = true };
        var lost = Assert.Single(MulticastCheck.Of(multicast with { HearsItself = true, Peers = [peer] }));
        Assert.Equal("nft 'insert rule inet filter input ip6 daddr ff00::/8 accept'", lost.Remedies[0].Command);
    }

    [Fact]
    public void A_rule_for_IPv4_is_not_put_into_a_table_for_IPv6()
    {
        FirewallChain[] chains = [Input, new("ip6", "mine", "in", IsInput: true)];
        var udp = Assert.Single(FirewallCheck.Of(new FirewallFacts(Local, [First], chains)));
        Assert.DoesNotContain(udp.Remedies, static remedy => remedy.Command.Contains("ip6", StringComparison.Ordinal));
        Assert.Single(Assert.Single(MulticastCheck.Of(Multicast() with { HearsItself = false, Chains = chains })).Remedies);
    }

    [Fact]
    public void Multicast_within_a_host_is_in_order_if_it_hears_itself()
    {
        Assert.Equal(FindingStatus.Ok, Assert.Single(MulticastCheck.Of(Multicast())).Status);
        Assert.Equal(FindingStatus.NotChecked, Assert.Single(MulticastCheck.Of(Multicast() with { IsUsed = false })).Status);
        var deaf = Assert.Single(MulticastCheck.Of(Multicast() with { HearsItself = false, Chains = [Input, Output] }));
        Assert.Equal(
            (FindingStatus.Problem, "nft 'insert rule inet filter input ip daddr 224.0.0.0/4 accept'"),
            (deaf.Status, Assert.Single(deaf.Remedies).Command));
    }

    [Fact]
    public void Multicast_that_the_system_refuses_is_reported_with_its_cause()
    {
        var route = Assert.Single(MulticastCheck.Of(Multicast() with { Fault = "Network is unreachable" }));
        Assert.Equal("ip route add 224.0.0.0/4 dev eth0", Assert.Single(route.Remedies).Command);
        var forbidden = Assert.Single(MulticastCheck.Of(
            Multicast() with { Fault = "Permission denied", IsForbidden = true, Chains = [Input, Output] }));
        Assert.Equal("nft 'insert rule ip mine out ip daddr 224.0.0.0/4 accept'", Assert.Single(forbidden.Remedies).Command);
        var off = Assert.Single(MulticastCheck.Of(Multicast() with { CarriesMulticast = false }));
        Assert.Equal("ip link set dev eth0 multicast on", off.Remedies[0].Command);
        Assert.All([route, forbidden, off], finding => Assert.Equal(FindingStatus.Problem, finding.Status));
    }

    [Theory]
    [InlineData(true, true, true, FindingStatus.Ok, "passes both ways")]
    [InlineData(true, false, false, FindingStatus.Problem, "in neither direction")]
    [InlineData(true, false, true, FindingStatus.Problem, "of this host does not reach 10.0.0.9")]
    [InlineData(true, true, false, FindingStatus.Problem, "of 10.0.0.9 does not reach this host")]
    [InlineData(false, false, false, FindingStatus.Problem, "Nothing answers at 10.0.0.9")]
    public void Multicast_between_hosts_is_judged_for_each_direction(bool unicast, bool hears, bool isHeard, object status, string text)
    {
        var peer = new MulticastPeer(IPAddress.Parse("10.0.0.9"), IsNamed: true)
        {
            AnswersUnicast = unicast,
            HearsThisHost = hears,
            IsHeard = isHeard,
        };
        var finding = Assert.Single(MulticastCheck.Of(Multicast() with { Peers = [peer] }));
        Assert.Equal(status, finding.Status);
        Assert.Contains(text, finding.Text);
    }

    [Fact]
    public void A_time_to_live_that_ends_before_the_nodes_is_reported()
    {
        var facts = new TimeToLiveFacts(1, Local, IPNetwork.Parse("10.0.0.0/24"), [IPAddress.Parse("10.0.0.9")]);
        Assert.Equal(FindingStatus.Ok, TimeToLiveCheck.Of(facts).Status);
        Assert.Equal(FindingStatus.Problem, TimeToLiveCheck.Of(facts with { TimeToLive = 0 }).Status);
        Assert.Equal(FindingStatus.Ok, TimeToLiveCheck.Of(facts with { TimeToLive = 0, Local = IPAddress.Loopback }).Status);
        Assert.Equal(FindingStatus.NotChecked, TimeToLiveCheck.Of(facts with { UsesMulticast = false }).Status);
        var beyond = facts with { Nodes = [IPAddress.Parse("10.0.1.9")] };
        Assert.Equal(
            (FindingStatus.Warning, "export QuickSilver__MulticastTimeToLive=2"),
            (TimeToLiveCheck.Of(beyond).Status, TimeToLiveCheck.Of(beyond).Remedies[0].Command));
        Assert.Equal(FindingStatus.Ok, TimeToLiveCheck.Of(beyond with { TimeToLive = 2 }).Status);
    }

    [Fact]
    public void A_word_between_doctors_is_read_as_it_was_written_and_only_in_its_cluster()
    {
        var word = new DoctorDatagram(DoctorKind.Answer, IsOfGroup: true, IsToGroup: false, 0x1122334455667788);
        byte[] bytes = word.Write("trading");
        Assert.Equal(word, DoctorDatagram.Read(bytes, "trading"));
        Assert.Null(DoctorDatagram.Read(bytes, "default"));
        Assert.Null(DoctorDatagram.Read(bytes.AsSpan(1), "trading"));
        bytes[4] = 3;
        Assert.Null(DoctorDatagram.Read(bytes, "trading"));
    }

    // A sender may write another host's address as its own.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_probe_is_answered_with_no_more_bytes_than_came(bool isGroup)
    {
        var answers = new DoctorAnswers("trading", static () => TimeSpan.Zero);
        byte[] probe = new DoctorDatagram(DoctorKind.Probe, isGroup, IsToGroup: false, 17).Write("trading");
        var (toProber, toGroup) = Assert.NotNull(answers.To(probe, isGroup));
        Assert.InRange(toProber.Length + toGroup!.Length, 1, probe.Length);
        Assert.Equal(new DoctorDatagram(DoctorKind.Answer, isGroup, IsToGroup: false, 17), DoctorDatagram.Read(toProber, "trading"));
        Assert.Equal(new DoctorDatagram(DoctorKind.Answer, isGroup, IsToGroup: true, 17), DoctorDatagram.Read(toGroup, "trading"));

        // One that is too short for both.
        (toProber, toGroup) = Assert.NotNull(answers.To(probe.AsSpan(0, probe.Length - 1), isGroup));
        Assert.InRange(toProber.Length, 1, probe.Length - 1);
        Assert.Null(toGroup);

        Assert.Null(answers.To(toProber, isGroup));
        Assert.Null(new DoctorAnswers("default", static () => TimeSpan.Zero).To(probe, isGroup));
    }

    [Fact]
    public void Probes_are_answered_so_many_times_a_second()
    {
        var now = TimeSpan.Zero;
        var answers = new DoctorAnswers("trading", () => now);
        byte[] probe = new DoctorDatagram(DoctorKind.Probe, true, IsToGroup: false, 17).Write("trading");
        Assert.Equal(DoctorAnswers.ProbesPerSecond, Enumerable.Range(0, 1_000).Count(_ => answers.To(probe, isGroup: true) is not null));
        now = TimeSpan.FromSeconds(1);
        Assert.NotNull(answers.To(probe, isGroup: true));
    }

    private static EchoTarget Answered(EchoTarget target) => target with { IsAnswered = true, IsHeardUnsolicited = true };

    private static MulticastFacts Multicast() => new("eth0", IPEndPoint.Parse("239.255.74.3:7403")) { HearsItself = true };

    private static Finding Firewall(params EchoTarget[] targets) =>
        Assert.Single(FirewallCheck.Of(new FirewallFacts(Local, targets, [Input, Output])));

    private static Finding Path(MtuFacts facts, params PathFacts[] paths) => Assert.Single(MtuCheck.OfPaths(paths, facts));
}
