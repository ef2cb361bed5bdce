using System.Net;
using QuickSilver.Composition;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Tests.Sessions;

// Without a key, a node does not leave the loopback interface, unless its options say so by name.
public sealed class LoopbackRuleTests
{
    private static readonly InterfaceChoice Eth0 = new(IPAddress.Parse("10.0.0.5"), "eth0", "the option Interface names this address");

    private static readonly SecurityOptions WithCertificate = new() { CertificateFile = "node.pem", AuthorityFile = "authority.pem" };

    [Fact]
    public void A_node_without_a_key_is_refused_on_a_network_with_the_interface_and_the_three_ways_on()
    {
        var failure = Assert.Throws<QuickSilverOptionsException>(() => LoopbackRule.Check(new SecurityOptions(), Eth0));
        Assert.StartsWith("The option Security:Mode is Auto, without a secret or a certificate, and ", failure.Message);
        Assert.Contains($": {Eth0}. ", failure.Message);
        Assert.Contains("'qsm keys secret --out cluster.secret'", failure.Message);
        Assert.Contains("Security:SecretFile", failure.Message);
        Assert.Contains("Security = SecurityOptions.None", failure.Message);
        Assert.Contains("Interface to 127.0.0.1.", failure.Message);
        Assert.Equal(failure.Message, Assert.Single(failure.Failures));
        Assert.Equal(Eth0.ToString(), failure.Unprotected);
    }

    [Fact]
    public void The_tool_says_the_same_in_the_words_of_its_command_line()
    {
        var refused = Assert.Throws<QuickSilverOptionsException>(() => LoopbackRule.Check(new SecurityOptions(), Eth0));
        var failure = ToolException.OnStart(refused);
        Assert.Equal(ExitCode.Usage, failure.ExitCode);
        Assert.StartsWith($"--security is missing, and the interface is not loopback: {Eth0}. ", failure.Message);
        Assert.Contains("add --security cluster.secret. To run without protection, add --security none.", failure.Message);
        Assert.EndsWith("use --interface 127.0.0.1, the default.", failure.Message);
        Assert.EndsWith("use --listen 127.0.0.1:7400.", Unprotected.Service(IPEndPoint.Parse("10.0.0.1:7400")));
    }

    [Theory]
    [InlineData("10.0.0.5")]
    [InlineData("fd00::5")]
    [InlineData("fe80::5%3")]
    [InlineData("0.0.0.0")]
    [InlineData("::")]
    [InlineData("::ffff:10.0.0.5")]
    public void An_address_that_others_may_reach_needs_a_key_or_a_word(string text)
    {
        var address = IPAddress.Parse(text);
        Assert.True(LoopbackRule.Refuses(new SecurityOptions(), address));
        Assert.False(LoopbackRule.Refuses(SecurityOptions.None, address));
        Assert.False(LoopbackRule.Refuses(new SecurityOptions { SecretFile = "cluster.secret" }, address));
        Assert.False(LoopbackRule.Refuses(new SecurityOptions { SecretVariable = "SECRET" }, address));
        Assert.False(LoopbackRule.Refuses(WithCertificate, address));
        var given = new SecurityOptions();
        given.UseSecret("a secret");
        Assert.False(LoopbackRule.Refuses(given, address));
    }

    [Theory]
    [InlineData("127.0.0.1")]
    [InlineData("127.0.0.7")]
    [InlineData("::1")]
    public void The_loopback_interface_needs_none(string text) =>
        Assert.False(LoopbackRule.Refuses(new SecurityOptions(), IPAddress.Parse(text)));

    // The start is refused before anything is sent or opened.
    [Fact]
    public async Task A_start_on_an_interface_of_this_machine_is_refused_unless_the_file_of_the_secret_is_what_is_wrong()
    {
        var address = LocalInterfaces.Read()?.Where(static one => one is { IsUp: true, IsLoopback: false })
            .SelectMany(static one => one.Addresses).FirstOrDefault();
        Assert.SkipWhen(address is null, "this machine has the loopback interface only");
        var options = new QuickSilverOptions { Interface = address, Cluster = $"refused {Guid.NewGuid():N}" };
        var refused = await Assert.ThrowsAsync<QuickSilverOptionsException>(() => QuickSilverNode.StartAsync(options).OrFail());
        Assert.StartsWith($"{address} ", refused.Unprotected);

        var keyed = options.Copy(static copy => copy.Security.SecretFile = "/nonexistent/cluster.secret");
        var missing = await Assert.ThrowsAsync<QuickSilverOptionsException>(() => QuickSilverNode.StartAsync(keyed).OrFail());
        Assert.Null(missing.Unprotected);
        Assert.Contains("/nonexistent/cluster.secret cannot be read", missing.Message);
    }

    [Fact]
    public async Task A_network_in_memory_needs_no_key()
    {
        var options = new QuickSilverOptions { Interface = IPAddress.Parse("10.0.0.5") };
        await using var node = await new InMemoryNetwork().StartNodeAsync(options).OrFail();
        Assert.Equal(NodeState.Running, node.Status.State);
    }
}
