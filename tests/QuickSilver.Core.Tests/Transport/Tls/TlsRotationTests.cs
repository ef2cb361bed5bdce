using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport.Tls;

namespace QuickSilver.Core.Tests.Transport.Tls;

// A secret is replaced while nodes come and go: the service takes both, nodes move, the old one goes.
public sealed class TlsRotationTests : IDisposable
{
    private readonly string _path = Path.Combine(Path.GetTempPath(), "qs-" + Guid.NewGuid().ToString("N"));

    public void Dispose() => File.Delete(_path);

    [Fact]
    public void A_service_takes_nodes_with_each_of_its_secrets_and_shows_each_its_own()
    {
        var old = TlsHouse.NewSecret("cluster");
        var next = TlsHouse.NewSecret("cluster");
        var third = TlsHouse.NewSecret("orders");
        using var service = new TlsService(TlsHouse.Of(next, old, third));
        foreach (var secret in new[] { old, next, third })
        {
            using var node = new TlsNode(TlsHouse.Of(secret));
            var (_, told) = node.Connect(service.At);
            Patience.Until(() => told.Told.Contains("connected"), $"the connection of {secret}");
        }

        Patience.Until(() => service.Admitted.Length == 3, "all three");
        Assert.Equal(["cluster", "cluster", "orders"], service.Admitted.Select(static one => one?.Name));
    }

    [Fact]
    public void Credentials_that_fail_in_an_unforeseen_way_end_their_own_streams_and_take_no_place()
    {
        var secret = TlsHouse.NewSecret("cluster");
        var credentials = new FailingCredentials(TlsHouse.Of(secret).Latest) { Fails = true };
        using var service = new TlsService(credentials);
        using var node = new TlsNode(TlsHouse.Of(secret));
        // More than one address may have in handshakes.
        for (int i = 0; i < 100; i++)
        {
            var (_, refused) = node.Connect(service.At);
            Patience.Until(() => refused.Reason is not null, "the end of a stream");
        }

        using (var failing = new TlsNode(credentials))
        {
            var (stream, told) = failing.Connect(service.At);
            Patience.Until(() => told.Reason is not null, "the end of the node's own stream");
            Assert.Contains("the disk is away", told.Reason, StringComparison.Ordinal);
            failing.Node.Do(stream.Close);
        }

        credentials.Fails = false;
        var (_, connected) = node.Connect(service.At);
        Patience.Until(() => connected.Told.Contains("connected"), "a connection");
    }

    [Fact]
    public void Files_are_read_again_without_a_pause_and_streams_of_the_old_secret_end_with_it()
    {
        var old = TlsHouse.NewSecret("cluster");
        var next = TlsHouse.NewSecret("cluster");
        Write(old);
        var told = new List<(string What, bool IsGood)>();
        var credentials = new WatchedCredentials(
            () => CredentialFiles.OfSecretFile(_path),
            [_path],
            TimeProvider.System,
            (what, isGood) =>
            {
                lock (told)
                {
                    told.Add((what, isGood));
                }
            });
        using var service = new TlsService(credentials);
        using var first = new TlsNode(TlsHouse.Of(old));
        using var second = new TlsNode(TlsHouse.Of(next));
        var (_, of) = first.Connect(service.At);
        Patience.Until(() => of.Told.Contains("connected"), "the connection with the old one");

        Write(next, old);
        Until(second, service);
        Assert.Null(of.Reason);

        // A file that is broken for a while changes nothing.
        File.WriteAllText(_path, "nonsense");
        Patience.Until(() => Poked(second, service, () => told.Exists(static one => !one.IsGood)), "the complaint");
        Assert.StartsWith(
            $"{_path}, line 1: It does not have the form {Secret.Form}. Copy the secret from", told.First(static one => !one.IsGood).What);
        Assert.Null(of.Reason);

        Write(next);
        Patience.Until(() => Poked(second, service, () => of.Reason is not null), "the end of the stream with the old one");
        Patience.Until(
            () => service.Recorders.Any(static one => one.Reason == $"closed: {TlsAdmission.NotAcceptedAnyMore}"),
            "the reason that the service has");
        Until(second, service);
        Assert.DoesNotContain(told, static one => one.What.Contains("quicksilver-secret:c"));
    }

    [Fact]
    public void Files_are_looked_at_once_a_second_at_most()
    {
        Write(TlsHouse.NewSecret("one"));
        var time = new SteppedTime();
        int reads = 0;
        var credentials = new WatchedCredentials(
            () =>
            {
                reads++;
                return CredentialFiles.OfSecretFile(_path);
            },
            [_path],
            time,
            static (_, _) => { });
        var before = credentials.Latest;
        Write(TlsHouse.NewSecret("other"), TlsHouse.NewSecret("two"));
        Assert.Same(before, ((IStreamCredentials)credentials).Refresh());
        time.Now += TimeSpan.FromSeconds(1);
        Assert.NotSame(before, ((IStreamCredentials)credentials).Refresh());
        time.Now += TimeSpan.FromSeconds(1);
        credentials.Refresh();
        Assert.Equal(2, reads);
    }

    // As volumes of Kubernetes are: the file is a link through a folder that is a link, and that one is changed.
    [Fact]
    public void Files_behind_links_are_read_again_when_a_link_is_changed()
    {
        var folder = Directory.CreateTempSubdirectory("qs");
        try
        {
            string Of(string name) => Path.Combine(folder.FullName, name);
            foreach (string version in new[] { "one", "two" })
            {
                Directory.CreateDirectory(Of(version));
                File.WriteAllText(Path.Combine(Of(version), "secret"), TlsHouse.NewSecret(version).Reveal());
            }

            File.SetLastWriteTimeUtc(Path.Combine(Of("one"), "secret"), DateTime.UnixEpoch);
            Directory.CreateSymbolicLink(Of("data"), "one");
            File.CreateSymbolicLink(Of("secret"), Path.Combine("data", "secret"));
            var time = new SteppedTime();
            IStreamCredentials credentials = new WatchedCredentials(
                () => CredentialFiles.OfSecretFile(Of("secret")), [Of("secret")], time, static (_, _) => { });
            var before = credentials.Refresh();
            Directory.Delete(Of("data"));
            Directory.CreateSymbolicLink(Of("data"), "two");
            time.Now += TimeSpan.FromSeconds(1);
            Assert.NotSame(before, credentials.Refresh());
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Fact]
    public void A_secret_instead_of_a_file_is_not_shown()
    {
        string secret = TlsHouse.NewSecret("cluster").Reveal();
        var failure = Assert.Throws<CredentialException>(() => CredentialFiles.OfSecretFile(secret));
        Assert.DoesNotContain(secret[^20..], failure.ToString(), StringComparison.Ordinal);
    }

    private static bool Poked(TlsNode node, TlsService service, Func<bool> condition)
    {
        node.Connect(service.At);
        return SpinWait.SpinUntil(condition, TimeSpan.FromMilliseconds(100));
    }

    private static void Until(TlsNode node, TlsService service) => Patience.Until(
        () =>
        {
            var (_, told) = node.Connect(service.At);
            Patience.Until(() => told.Told.Length > 0, "an answer");
            return !SpinWait.SpinUntil(() => told.Reason is not null, TimeSpan.FromMilliseconds(50));
        },
        "the connection with the new secret");

    private void Write(params Secret[] secrets) =>
        File.WriteAllLines(_path, ["# of a test", "", .. secrets.Select(static secret => secret.Reveal())]);

    private sealed class SteppedTime : TimeProvider
    {
        public TimeSpan Now { get; set; }

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override long GetTimestamp() => Now.Ticks;
    }

    private sealed class FailingCredentials(TlsCredentials latest) : IStreamCredentials
    {
        public volatile bool Fails;

        public TlsCredentials Latest => latest;

        public TlsCredentials Refresh() => Fails ? throw new UnauthorizedAccessException("the disk is away") : latest;
    }
}
