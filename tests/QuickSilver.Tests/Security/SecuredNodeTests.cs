using System.Security.Cryptography;
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
            var options = With(security) with { MembershipMode = MembershipMode.Find, StartTimeout = TimeSpan.FromSeconds(1) };
            await Assert.ThrowsAsync<MembershipUnreachableException>(() => QuickSilverNode.StartAsync(options).OrFail());
        }
    }

    [Theory]
    [InlineData(UnixFileMode.OtherRead, true)]
    [InlineData(UnixFileMode.GroupRead, false)]
    public async Task A_secret_that_every_user_of_the_machine_can_read_is_told(UnixFileMode toOthers, bool isTold)
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

    [Theory]
    [InlineData((int)PeerRole.Node, -1, "holds from")]
    [InlineData((int)PeerRole.Service, 1, "is not for a node")]
    public async Task A_certificate_that_nobody_would_believe_fails_the_start(int role, int untilDays, string expected)
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
        options.Service.RightsFile = _path;
        await Assert.ThrowsAsync<QuickSilverOptionsException>(() => QuickSilverNode.StartAsync(options).OrFail());
    }

    private static void Refused(string key, SecurityOptions security)
    {
        var failures = OptionRules.Failures(new QuickSilverOptions { Security = security });
        Assert.Contains(failures, failure => failure.StartsWith($"The option {key} is ", StringComparison.Ordinal));
    }

    private QuickSilverOptions With(SecurityOptions security) => new() { Cluster = _cluster, Security = security };
}
