using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Composition;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Composition;

public sealed class ServerNamesTests
{
    private static readonly IPAddress First = IPAddress.Parse("10.0.0.1");
    private static readonly IPAddress Second = IPAddress.Parse("10.0.0.2");
    private static readonly IPAddress SixthVersion = IPAddress.Parse("fd00::1");

    private readonly Dictionary<string, IPAddress[]> _hosts = [];
    private readonly List<AddressFamily> _families = [];

    [Fact]
    public async Task All_addresses_of_each_name_are_resolved_again_at_each_call()
    {
        var names = Names("a:7400,b:7401");
        (_hosts["a"], _hosts["b"]) = ([First], [Second, First]);
        Assert.Equal(["10.0.0.1:7400", "10.0.0.2:7401", "10.0.0.1:7401"], await ResolveAsync(names));
        _hosts["a"] = [Second];
        Assert.Equal(["10.0.0.2:7400", "10.0.0.2:7401", "10.0.0.1:7401"], await ResolveAsync(names));
    }

    [Fact]
    public async Task A_name_that_cannot_be_resolved_gives_the_addresses_that_it_had()
    {
        var names = Names("a:7400,b:7400");
        (_hosts["a"], _hosts["b"]) = ([First], []);
        Assert.Equal(["10.0.0.1:7400"], await ResolveAsync(names));
        _hosts.Clear();
        _hosts["b"] = [Second];
        Assert.Equal(["10.0.0.1:7400", "10.0.0.2:7400"], await ResolveAsync(names));
        _hosts.Clear();
        Assert.Equal(["10.0.0.1:7400", "10.0.0.2:7400"], await ResolveAsync(names));
    }

    [Fact]
    public async Task Without_any_address_the_failure_names_the_host()
    {
        var failure = await Assert.ThrowsAsync<MembershipUnreachableException>(() => ResolveAsync(Names("nowhere:7400")));
        Assert.Contains("nowhere", failure.Message);
        Assert.Contains(MembershipOptions.ServersKey, failure.Message);
    }

    [Fact]
    public async Task The_kind_of_addresses_stays_that_of_the_first_resolution()
    {
        var names = Names("a:7400");
        _hosts["a"] = [SixthVersion, First];
        Assert.Equal(["10.0.0.1:7400"], await ResolveAsync(names));
        await ResolveAsync(names);
        Assert.Equal([AddressFamily.Unspecified, AddressFamily.InterNetwork], _families);
    }

    [Theory]
    [InlineData("10.0.0.1:7400", false)]
    [InlineData("[fd00::1]:7400,10.0.0.1:7400", false)]
    [InlineData("10.0.0.1:7400,a:7400", true)]
    public void Only_names_can_come_to_have_other_addresses(string servers, bool hasNames) =>
        Assert.Equal(hasNames, Names(servers).HasNames);

    [Fact]
    public async Task A_node_on_a_machine_goes_where_the_name_of_its_service_comes_to_lead()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Elsewhere the loopback interface may have one address only.");
        using var service = new TcpListener(IPAddress.Parse("127.0.0.2"), 0);
        service.Start();
        var options = new QuickSilverOptions
        {
            Membership = { Servers = [$"service:{((IPEndPoint)service.LocalEndpoint).Port}"] },
            Interface = NodeInterface.Loopback,
            Limits = { BufferBytes = 8 << 20 },
        };
        int asked = 0;
        var parts = await NodeComposition.ForMachineAsync(options, NullLoggerFactory.Instance, CancellationToken.None, lookup: (_, _, _) =>
            Interlocked.Increment(ref asked) switch
            {
                // No server is at the first one.
                1 => Task.FromResult<IPAddress[]>([IPAddress.Parse("127.0.0.3")]),
                2 => Task.FromException<IPAddress[]>(new SocketException((int)SocketError.TryAgain)),
                // The first one is out of the reach of the loopback interface.
                _ => Task.FromResult<IPAddress[]>([First, ((IPEndPoint)service.LocalEndpoint).Address]),
            });
        Assert.False(parts.IsServiceHosted);
        using var stop = new CancellationTokenSource();
        var start = QuickSilverNode.StartAsync(parts, options, NullLoggerFactory.Instance, stop.Token);
        using (await service.AcceptTcpClientAsync().OrFail())
        {
            await stop.CancelAsync();
        }

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => start.OrFail());
        Assert.True(asked >= 3);
    }

    private static async Task<IEnumerable<string>> ResolveAsync(ServerNames names) =>
        (await names.ResolveAsync(CancellationToken.None)).Select(static one => one.ToString());

    private ServerNames Names(string servers) => new(servers.Split(','), family: null, (host, family, _) =>
    {
        _families.Add(family);
        return _hosts.TryGetValue(host, out var addresses)
            ? Task.FromResult(addresses)
            : Task.FromException<IPAddress[]>(new SocketException((int)SocketError.HostNotFound));
    });
}
