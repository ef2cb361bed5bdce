using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Security;

// Nodes of the machine with a secret, on loopback: one of them hosts the service.
public sealed class SecuredNodeTests : IDisposable
{
    private readonly Secret _secret = Secret.Of("cluster", RandomNumberGenerator.GetBytes(Secret.LeastKeyBytes));
    private readonly string _path = Path.GetTempFileName();
    private readonly string _cluster = $"secured {Guid.NewGuid():N}";
    private readonly RecordingLogs _logs = new();

    public SecuredNodeTests()
    {
        File.WriteAllText(_path, _secret.Reveal());
    }

    public void Dispose() => File.Delete(_path);

    [Fact]
    public async Task Two_nodes_with_one_secret_find_each_other_and_exchange_messages()
    {
        await using var host = await QuickSilverNode.StartAsync(With(new SecurityOptions { SecretFile = _path }), _logs).OrFail();
        var given = new SecurityOptions();
        given.UseSecret(_secret.Reveal());
        await using var other = await QuickSilverNode.StartAsync(With(given), _logs).OrFail();
        await using var sent = await host.OpenPublisherAsync<string>("news").OrFail();
        await using var received = await other.OpenSubscriberAsync<string>("news").OrFail();
        await sent.WaitForSubscribersAsync(1).OrFail();
        await sent.PublishAsync("hello", PublishCompletion.Stable).OrFail();
        await using var reader = received.ReadAllAsync().GetAsyncEnumerator();
        Assert.True(await reader.MoveNextAsync().OrFail());
        Assert.Equal("hello", reader.Current.Value);

        // T14: neither logs nor options show it.
        string key = _secret.Reveal().Split(':')[2];
        Assert.DoesNotContain(_logs.Entries.Select(static entry => entry.Text), text => text.Contains(key, StringComparison.Ordinal));
        Assert.Contains(
            _logs.Entries.Select(static entry => entry.Text),
            static text => text.StartsWith("Admitted node ", StringComparison.Ordinal) && text.Contains("'cluster'"));
        Assert.DoesNotContain(key, With(given).ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_node_with_another_secret_or_none_does_not_find_the_cluster()
    {
        await using var host = await QuickSilverNode.StartAsync(With(new SecurityOptions { SecretFile = _path })).OrFail();
        var other = new SecurityOptions();
        other.UseSecret(Secret.Of("cluster", RandomNumberGenerator.GetBytes(Secret.LeastKeyBytes)).Reveal());
        foreach (var security in new[] { other, new SecurityOptions() })
        {
            var options = With(security);
            options.Membership.Mode = MembershipMode.Find;
            options.StartTimeout = TimeSpan.FromSeconds(1);
            await Assert.ThrowsAsync<MembershipUnreachableException>(() => QuickSilverNode.StartAsync(options).OrFail());
        }
    }

    [Theory]
    [InlineData(UnixFileMode.OtherRead, true)]
    [InlineData(UnixFileMode.GroupRead, false)]
    public async Task A_secret_that_every_user_of_the_machine_can_read_is_reported(UnixFileMode toOthers, bool isTold)
    {
        if (OperatingSystem.IsWindows())
        {
            return;
        }

        File.SetUnixFileMode(_path, UnixFileMode.UserRead | toOthers);
        await using var node = await QuickSilverNode.StartAsync(With(new SecurityOptions { SecretFile = _path }), _logs).OrFail();
        Assert.Equal(isTold, _logs.Entries.Any(entry => entry.Text.Contains($"chmod 600 {_path}", StringComparison.Ordinal)));
    }

    [Theory]
    [InlineData("nothing of this kind", "line 1: It does not have the form quicksilver-secret:NAME:BASE64.")]
    [InlineData("", "has 0 secrets")]
    public async Task A_file_without_a_secret_fails_the_start_and_is_not_shown(string content, string expected)
    {
        File.WriteAllText(_path, content);
        var failure = await Assert.ThrowsAsync<QuickSilverOptionsException>(
            () => QuickSilverNode.StartAsync(With(new SecurityOptions { SecretFile = _path })).OrFail());
        Assert.Contains(expected, failure.Message);
        Assert.DoesNotContain("nothing of", failure.ToString());
    }

    [Fact]
    public async Task A_name_of_no_file_is_reported_with_its_option_and_without_advice_that_would_harm_the_machine()
    {
        string folder = Path.TrimEndingDirectorySeparator(Path.GetTempPath());
        await StartFails($"The option Security:SecretFile cannot be used: {folder} is a directory.", new() { SecretFile = folder });
        string missing = _path + ".absent";
        string why = $"{missing} cannot be read: there is no file {missing}. Correct the name";
        await StartFails($"The option Security:SecretFile cannot be used: {why}", new() { SecretFile = missing });
        await StartFails(
            $"The option Security:AuthorityFile cannot be used: {why}", new() { CertificateFile = _path, AuthorityFile = missing });
        await StartFails(
            "The option Security:SecretVariable cannot be used: there is no environment variable QS_ABSENT. Correct the name",
            new() { SecretVariable = "QS_ABSENT" });
        Assert.DoesNotContain(_logs.Entries, static entry => entry.Text.Contains("chmod", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_node_whose_certificate_is_not_for_a_service_says_why_it_hosts_none()
    {
        using var authority = NewAuthority("house");
        var failure = await Assert.ThrowsAsync<MembershipUnreachableException>(() => TryStartAsync(PeerRole.Node, authority, authority));
        Assert.Contains(
            "this node does not host one, because other nodes would not accept its certificate as that of a service: it is not for "
            + "a service. Issue one with 'qsm keys certificate --role both', or name a service. Start the service, or correct "
            + "Membership:Servers, Cluster, Interface, DiscoveryPort or Security.",
            failure.Message,
            StringComparison.Ordinal);
        Assert.Contains(_logs.Entries, static entry => entry.Text.StartsWith("This node never hosts", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_certificate_that_nodes_with_the_same_authorities_refuse_is_reported(bool isForeign)
    {
        using var authority = NewAuthority("house");
        using var other = NewAuthority("house");
        await Record.ExceptionAsync(() => TryStartAsync(PeerRole.Node, authority, isForeign ? other : authority));
        Assert.Equal(
            isForeign,
            _logs.Entries.Any(static entry => entry.Text.StartsWith("The certificate of the program is not of an authority")));
    }

    [Theory]
    [InlineData((int)PeerRole.Node, -1, "holds from")]
    [InlineData((int)PeerRole.Node, -1, "Issue another one with 'qsm keys certificate', or set the clock of this machine if it is wrong.")]
    [InlineData((int)PeerRole.Service, 1, "is not for a node. Issue one with 'qsm keys certificate --role node', or --role both.")]
    public async Task A_certificate_that_no_peer_would_accept_fails_the_start(int role, int untilDays, string expected)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var now = DateTimeOffset.UtcNow;
        using var authority = CertificateIssue.Authority(key, CertificateIssue.Named("house"), now.AddDays(-9), now.AddDays(9));
        using var own = CertificateIssue.Of(authority, "pricer", (PeerRole)role, now.AddDays(-8), now.AddDays(untilDays));
        var security = new SecurityOptions();
        security.UseCertificate(own, [authority]);
        var failure = await Assert.ThrowsAsync<QuickSilverOptionsException>(() => QuickSilverNode.StartAsync(With(security)).OrFail());
        Assert.Contains(expected, failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Options_that_contradict_each_other_are_refused_by_their_keys()
    {
        Refused("Security:Mode", new SecurityOptions { Mode = SecurityMode.None, SecretFile = _path });
        Refused("Security:Mode", new SecurityOptions { Mode = (SecurityMode)7 });
        Refused("Security:SecretFile", new SecurityOptions { SecretFile = _path, SecretVariable = "X" });
        Refused("Security:SecretFile", new SecurityOptions { SecretFile = " " });
        Refused("Security:CertificateFile", new SecurityOptions { SecretFile = _path, CertificateFile = "a", AuthorityFile = "b" });
        Refused("Security:AuthorityFile", new SecurityOptions { CertificateFile = "a" });
        Refused("Security:AuthorityFile", new SecurityOptions { AuthorityFile = "a" });
        Refused("Security:CertificateKeyFile", new SecurityOptions { CertificateKeyFile = "a" });
        Assert.Empty(OptionRules.Failures(new QuickSilverOptions { Security = SecurityOptions.None }));
    }

    [Fact]
    public async Task Rules_without_an_identity_are_refused()
    {
        var options = With(new SecurityOptions());
        options.Membership.Hosted.RightsFile = _path;
        await Assert.ThrowsAsync<QuickSilverOptionsException>(() => QuickSilverNode.StartAsync(options).OrFail());
    }

    private static X509Certificate2 NewAuthority(string name)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var now = DateTimeOffset.UtcNow;
        return CertificateIssue.Authority(key, CertificateIssue.Named(name), now.AddDays(-9), now.AddDays(9));
    }

    private async Task TryStartAsync(PeerRole role, X509Certificate2 authority, X509Certificate2 believed)
    {
        var now = DateTimeOffset.UtcNow;
        using var own = CertificateIssue.Of(authority, "pricer", role, now.AddDays(-8), now.AddDays(8));
        var security = new SecurityOptions();
        security.UseCertificate(own, [X509CertificateLoader.LoadCertificate(believed.RawData)]);
        var options = With(security);
        options.StartTimeout = TimeSpan.FromSeconds(1);
        await using var node = await QuickSilverNode.StartAsync(options, _logs).OrFail();
    }

    private async Task StartFails(string expected, SecurityOptions security)
    {
        var failure = await Assert.ThrowsAsync<QuickSilverOptionsException>(
            () => QuickSilverNode.StartAsync(With(security), _logs).OrFail());
        Assert.StartsWith(expected, failure.Message, StringComparison.Ordinal);
    }

    private static void Refused(string key, SecurityOptions security)
    {
        var failures = OptionRules.Failures(new QuickSilverOptions { Security = security });
        Assert.Contains(failures, failure => failure.StartsWith($"The option {key} is ", StringComparison.Ordinal));
    }

    private QuickSilverOptions With(SecurityOptions security) => new() { Cluster = _cluster, Security = security };
}
