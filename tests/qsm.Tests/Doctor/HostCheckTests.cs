using System.Globalization;
using QuickSilver.Core.Environment;
using QuickSilver.Tool.Doctor.Checks;
using QuickSilver.Tool.Doctor.Checks.Network;

namespace QuickSilver.Tool.Tests.Doctor;

// What is judged of a host without its network.
public sealed class HostCheckTests
{
    private const long MiB = 1 << 20;

    [Theory]
    [InlineData(8 * MiB, 8 * MiB)]
    [InlineData(9 * MiB, 32 * MiB)]
    [InlineData(8 * MiB, null)]
    public void Buffers_that_are_granted_are_in_order(long granted, long? limit)
    {
        var finding = BufferCheck.Of(BufferCheck.Receive, new BufferFacts("net.core.rmem_max", 8 * MiB, granted, limit), "Slow.");
        Assert.Equal((FindingStatus.Ok, "receive buffer"), (finding.Status, finding.Check));
        Assert.Empty(finding.Remedies);
    }

    [Fact]
    public void A_buffer_below_what_a_node_asks_for_is_reported_with_the_limit_to_raise()
    {
        var finding = BufferCheck.Of(BufferCheck.Receive, new BufferFacts("net.core.rmem_max", 8 * MiB, 212_992, 212_992), "Slow.");
        Assert.Equal(FindingStatus.Warning, finding.Status);
        Assert.Equal("A node asks for 8 MiB, but the system grants 208 KiB. Slow.", finding.Text);
        Assert.Equal(new Remedy("sysctl -w net.core.rmem_max=8388608"), Assert.Single(finding.Remedies));
    }

    [Fact]
    public void A_limit_that_only_privileged_processes_exceed_is_reported_although_this_one_does()
    {
        var finding = BufferCheck.Of(BufferCheck.Send, new BufferFacts("net.core.wmem_max", 4 * MiB, 4 * MiB, 212_992), "Slow.");
        Assert.Equal(FindingStatus.Warning, finding.Status);
        Assert.Contains("without the privilege CAP_NET_ADMIN", finding.Text);
        Assert.Equal("sysctl -w net.core.wmem_max=4194304", Assert.Single(finding.Remedies).Command);
    }

    [Theory]
    [InlineData(1000 * MiB, null, FindingStatus.Ok)]
    [InlineData(840 * MiB, 1120 * MiB, FindingStatus.Ok)]
    [InlineData(839 * MiB, 1119 * MiB, FindingStatus.Warning)]
    [InlineData(128 * MiB, 512 * MiB, FindingStatus.Warning)]
    [InlineData(384 * MiB, 512 * MiB, FindingStatus.Warning)]
    [InlineData(800 * MiB, null, FindingStatus.Ok)]
    [InlineData(799 * MiB, null, FindingStatus.Warning)]
    [InlineData(48 * MiB, null, FindingStatus.Warning)]
    [InlineData(192 * MiB, 256 * MiB, FindingStatus.Warning)]
    [InlineData(270 * MiB, 360 * MiB, FindingStatus.Warning)]
    public void Memory_is_judged_by_the_limits_of_the_collector_and_the_container(long collector, long? container, object status)
    {
        var finding = MemoryCheck.Of(new MemoryFacts(256 * MiB, 736 * MiB, collector, container));
        Assert.Equal(status, finding.Status);
        Assert.Equal((FindingStatus)status != FindingStatus.Ok, finding.Remedies.Count > 0);
    }

    [Fact]
    public void A_container_is_given_memory_for_packets_received_messages_and_the_process()
    {
        var finding = MemoryCheck.Of(new MemoryFacts(256 * MiB, 46 * MiB, 192 * MiB, 256 * MiB));
        Assert.Equal("docker update --memory 430m --memory-swap 430m CONTAINER", Assert.Single(finding.Remedies).Command);
        Assert.Contains("Limits:BufferBytes (256 MiB), Limits:ReceivedMessageBytes (46 MiB) and the process", finding.Text);
        Assert.Equal(FindingStatus.Ok, MemoryCheck.Of(new MemoryFacts(256 * MiB, 46 * MiB, 322 * MiB, 430 * MiB)).Status);
    }

    [Theory]
    [InlineData(96, 736, "800 MiB. With the least value of the option, 46 MiB, 110 MiB suffice.", null)]
    [InlineData(512, 736, "800 MiB, or, where less is enough, lower the option to 448 MiB.", "448")]
    [InlineData(96, 46, "110 MiB.", null)]
    public void A_heap_that_cannot_hold_the_received_messages_is_raised_or_they_are_fewer(
        long heap, long received, string advice, string? mebibytes)
    {
        var facts = new MemoryFacts(256 * MiB, received * MiB, heap * MiB, Container: null);
        var finding = MemoryCheck.Of(facts);
        Assert.Equal(FindingStatus.Warning, finding.Status);
        Assert.StartsWith(
            $"The garbage collector may use {heap} MiB, which is too little for Limits:ReceivedMessageBytes ({received} MiB) and 64 MiB ",
            finding.Text);
        Assert.EndsWith($" Raise the limit of the heap to {advice}", finding.Text);
        string limit = $"export DOTNET_GCHeapHardLimit=0x{(received + 64) * MiB:X}";
        string[] option = mebibytes is null
            ? []
            : [$"export QuickSilver__Limits__ReceivedMessageBytes={long.Parse(mebibytes, CultureInfo.InvariantCulture) * MiB}"];
        Assert.Equal([limit, .. option], finding.Remedies.Select(static remedy => remedy.Command));
        // What each of them does fixes it.
        Assert.Equal(FindingStatus.Ok, MemoryCheck.Of(facts with { Collector = (received + 64) * MiB }).Status);
        if (mebibytes is not null)
        {
            Assert.Equal(FindingStatus.Ok, MemoryCheck.Of(facts with { Received = (heap - 64) * MiB }).Status);
        }
    }

    [Fact]
    public void A_limit_that_a_container_has_no_room_for_is_raised_together_with_that_of_the_container()
    {
        var finding = MemoryCheck.Of(new MemoryFacts(256 * MiB, 736 * MiB, 128 * MiB, 512 * MiB));
        Assert.Equal(
            ["docker update --memory 1120m --memory-swap 1120m CONTAINER", "export DOTNET_GCHeapHardLimit=0x32000000"],
            finding.Remedies.Take(2).Select(static remedy => remedy.Command));
    }

    [Fact]
    public void A_machine_with_little_memory_has_no_limit_to_raise()
    {
        var finding = MemoryCheck.Of(new MemoryFacts(256 * MiB, 736 * MiB, 512 * MiB, Container: null, IsLimited: false));
        Assert.Contains("Use a machine with more memory, or", finding.Text);
        Assert.Equal("export QuickSilver__Limits__ReceivedMessageBytes=469762048", Assert.Single(finding.Remedies).Command);
    }

    [Theory]
    [InlineData(20_000L, 100, 10, FindingStatus.Ok)]
    [InlineData(1000L, 0, 0, FindingStatus.Warning)]
    [InlineData(1024L, 1000, 10, FindingStatus.Problem)]
    [InlineData(null, 500, 10, FindingStatus.NotChecked)]
    public void Descriptors_are_judged_by_the_regions_and_nodes_of_the_cluster(long? limit, long regions, int nodes, object status)
    {
        var finding = DescriptorCheck.Of(new DescriptorFacts(limit, regions, nodes));
        Assert.Equal(status, finding.Status);
        Assert.Equal(
            (FindingStatus)status is FindingStatus.Warning or FindingStatus.Problem,
            finding.Remedies is [{ Command: "ulimit -Hn 65536 && ulimit -Sn 65536" }]);
    }

    [Fact]
    public void A_clock_is_judged_by_what_the_system_knows_of_it()
    {
        var now = new DateTimeOffset(2026, 1, 31, 0, 0, 0, TimeSpan.Zero);
        Assert.Equal(FindingStatus.Ok, ClockCheck.Of(new ClockFacts(now, true, TimeSpan.FromMilliseconds(3))).Status);
        Assert.Equal(FindingStatus.NotChecked, ClockCheck.Of(new ClockFacts(now, null, default)).Status);
        var free = ClockCheck.Of(new ClockFacts(now, false, default));
        Assert.Equal((FindingStatus.Warning, "timedatectl set-ntp true"), (free.Status, Assert.Single(free.Remedies).Command));
        var off = ClockCheck.Of(new ClockFacts(now, true, TimeSpan.FromSeconds(2)));
        Assert.Equal((FindingStatus.Warning, true), (off.Status, off.Text.Contains("2000 ms")));
        var past = ClockCheck.Of(new ClockFacts(DateTimeOffset.UnixEpoch, true, default));
        Assert.Equal((FindingStatus.Problem, true), (past.Status, past.Text.Contains("1970-01-01")));
    }

    [Fact]
    public void A_discovery_port_that_another_program_holds_is_a_problem_and_its_holder_is_named()
    {
        var finding = PortCheck.OfDiscovery(Ports() with { Discovery = new HeldPort(7402, "process 4711 (dnsmasq)") });
        Assert.Equal(FindingStatus.Problem, finding.Status);
        Assert.Contains("7402 (process 4711 (dnsmasq))", finding.Text);
        Assert.Equal(["kill 4711", "export QuickSilver__DiscoveryPort=7403"], finding.Remedies.Select(remedy => remedy.Command));
        var unknown = PortCheck.OfDiscovery(Ports() with { Discovery = new HeldPort(7402, "a process of user 0") });
        Assert.Equal("ss -ulpn 'sport = :7402'", unknown.Remedies[0].Command);
    }

    [Fact]
    public void A_discovery_port_is_not_checked_where_options_name_the_service() => Assert.Equal(
        FindingStatus.NotChecked, PortCheck.OfDiscovery(Ports() with { UsesDiscovery = false }).Status);

    [Fact]
    public void Ports_that_the_system_assigns_to_any_process_are_reported_with_how_to_reserve_them()
    {
        var ports = Ports(ephemeral: "1024 65000");
        var discovery = PortCheck.OfDiscovery(ports);
        Assert.Equal(
            (FindingStatus.Warning, "sysctl -w net.ipv4.ip_local_reserved_ports=7402"),
            (discovery.Status, Assert.Single(discovery.Remedies).Command));
        var groups = PortCheck.OfGroups(ports);
        Assert.Equal(
            (FindingStatus.Warning, "sysctl -w net.ipv4.ip_local_reserved_ports=10000-32767"),
            (groups.Status, Assert.Single(groups.Remedies).Command));
        Assert.Contains("22768 ports", groups.Text);
        var reserved = Ports(ephemeral: "1024 65000", reserved: "7402,10000-32767");
        Assert.Equal((FindingStatus.Ok, FindingStatus.Ok), (PortCheck.OfDiscovery(reserved).Status, PortCheck.OfGroups(reserved).Status));
    }

    [Fact]
    public void Held_ports_of_groups_are_reported()
    {
        var finding = PortCheck.OfGroups(Ports() with { Groups = [new HeldPort(21_007, "process 12 (x)"), new HeldPort(17_500, null)] });
        Assert.Equal(FindingStatus.Warning, finding.Status);
        Assert.Contains("21007 (process 12 (x)) and 17500", finding.Text);
        Assert.Equal(["kill 12", "ss -ulpn 'sport = :17500'"], finding.Remedies.Select(remedy => remedy.Command));
        Assert.Equal(FindingStatus.Ok, PortCheck.OfGroups(Ports()).Status);
    }

    [Fact]
    public void An_interface_that_cannot_be_used_is_a_problem_and_others_are_named()
    {
        Assert.Equal(FindingStatus.Ok, InterfaceCheck.Of(new InterfaceFacts("10.0.0.5 (eth0)", null, [])).Status);
        var finding = InterfaceCheck.Of(new InterfaceFacts(null, "It is down.", ["10.0.0.5"]));
        Assert.Equal((FindingStatus.Problem, "It is down."), (finding.Status, finding.Text));
        Assert.Equal("qsm doctor --interface 10.0.0.5", Assert.Single(finding.Remedies).Command);
    }

    private static PortFacts Ports(string ephemeral = "32768 60999", string reserved = "") =>
        new(7402, 10_000, 32_767, EphemeralPorts.Parse(ephemeral, reserved));
}
