using QuickSilver.Processes.Tests.Harness;

namespace QuickSilver.Processes.Tests.Scenarios.Service;

// Servers over an etcd that requires certificates, which `qsm keys` makes.
public sealed class EtcdKeysScenarios : IDisposable
{
    private const int Usage = 2;
    private const string Leads = "This server leads";

    private readonly string _cluster = $"etcd-keys-{Guid.NewGuid():N}";
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("qsm-etcd-keys-");
    private readonly ToolProcesses _tools = new();

    public void Dispose()
    {
        _tools.Dispose();
        _folder.Delete(recursive: true);
    }

    [Fact]
    public void A_server_with_a_certificate_of_the_authority_leads()
    {
        EtcdServer.SkipIfMissing();
        var keys = MakeKeys("house");
        using var etcd = new EtcdServer(keys);
        AwaitWord(
            Start(etcd.Address, "--etcd-certificate", Certificate("house", "gms", "node"), "--etcd-authority", keys.Authority),
            Leads);
    }

    [Fact]
    public void A_server_without_a_certificate_or_with_one_of_another_authority_is_refused_in_words_that_say_so()
    {
        EtcdServer.SkipIfMissing();
        var keys = MakeKeys("house");
        using var etcd = new EtcdServer(keys);
        AwaitWord(
            Start(etcd.Address, "--etcd-authority", keys.Authority),
            "it requires a certificate, and none is given with --etcd-certificate",
            "as one does that requires a certificate (--etcd-certificate)");

        var plain = new UriBuilder(etcd.Address) { Scheme = Uri.UriSchemeHttp }.Uri;
        AwaitWord(Start(plain), "as one does that requires https");

        Authority("other");
        string foreign = Certificate("other", "stranger", "node");
        AwaitWord(
            Start(etcd.Address, "--etcd-certificate", foreign, "--etcd-authority", keys.Authority),
            $"does not accept the certificate of --etcd-certificate, {foreign}");
    }

    [Fact]
    public void An_etcd_of_another_authority_or_another_host_is_not_trusted()
    {
        EtcdServer.SkipIfMissing();
        var keys = MakeKeys("house");
        string own = Certificate("house", "gms", "node");
        using var etcd = new EtcdServer(keys);
        string other = Authority("other");
        AwaitWord(
            Start(etcd.Address, "--etcd-certificate", own, "--etcd-authority", other),
            $"its certificate 'etcd house' is of no authority of --etcd-authority, {other}");
        AwaitWord(Start(etcd.Address, "--etcd-certificate", own), "is of no authority of the system");

        var elsewhere = new UriBuilder(etcd.Address) { Host = "localhost" }.Uri;
        AwaitWord(
            Start(elsewhere, "--etcd-certificate", own, "--etcd-authority", keys.Authority),
            "its certificate 'etcd house' is not for the host localhost");
    }

    [Fact]
    public void A_certificate_that_replaces_one_that_etcd_refuses_is_read_without_a_restart()
    {
        EtcdServer.SkipIfMissing();
        var keys = MakeKeys("house");
        using var etcd = new EtcdServer(keys);
        Authority("other");
        string file = Certificate("other", "stranger", "node");
        var server = Start(etcd.Address, "--etcd-certificate", file, "--etcd-authority", keys.Authority);
        AwaitWord(server, "does not accept the certificate");
        File.Move(Certificate("house", "gms", "node"), file, overwrite: true);
        AwaitWord(server, Leads);
    }

    [Fact]
    public void Files_that_cannot_be_used_are_refused_with_the_option_the_file_and_what_is_wrong()
    {
        string authority = Authority("house");
        string own = Certificate("house", "gms", "node");
        string service = Certificate("house", "service", "service");
        string broken = PathOf("broken.pem");
        File.WriteAllText(broken, "nothing");
        string absent = PathOf("absent.pem");
        (string[] Options, string Words)[] faults =
        [
            (["--etcd-certificate", absent], $"--etcd-certificate: {absent} cannot be read"),
            (["--etcd-certificate", authority], $"--etcd-certificate: {authority} is no certificate with its key (PEM)"),
            (["--etcd-certificate", broken], $"--etcd-certificate: {broken} is no certificate with its key (PEM)"),
            (["--etcd-certificate", service], $"--etcd-certificate: {service} is not for a client"),
            (["--etcd-authority", absent], $"--etcd-authority: {absent} cannot be read"),
            (["--etcd-authority", broken], $"--etcd-authority: {broken} has no certificate (PEM)"),
            (["--etcd-authority", _folder.FullName], $"--etcd-authority: {_folder.FullName} is a directory"),
        ];
        foreach (var (options, words) in faults)
        {
            AssertRefused(words, ["--etcd", "https://127.0.0.1:1", .. options]);
        }

        AssertRefused(
            $"--etcd-certificate: {own} is given, but http://127.0.0.1:1/ is without TLS",
            "--etcd", "https://127.0.0.1:2,http://127.0.0.1:1", "--etcd-certificate", own);
        AssertRefused("--etcd-certificate needs --etcd", "--etcd-certificate", own);
    }

    [Fact]
    public void Files_are_also_named_by_the_environment()
    {
        string absent = PathOf("absent.pem");
        foreach (string variable in (string[])["QS_ETCD_CERTIFICATE", "QS_ETCD_AUTHORITY"])
        {
            var (code, _, errors) = _tools.Run(
                new Dictionary<string, string> { [variable] = absent },
                "gms", "--listen", "127.0.0.1:0", "--cluster", _cluster, "--etcd", "https://127.0.0.1:1");
            Assert.Equal(Usage, code);
            Assert.Contains($"{variable}: {absent} cannot be read", errors);
        }
    }

    private void AssertRefused(string words, params string[] options)
    {
        var (code, _, errors) = _tools.Run(["gms", "--listen", "127.0.0.1:0", "--cluster", _cluster, .. options]);
        Assert.Equal(Usage, code);
        Assert.Contains(words, errors);
    }

    // A reason that comes late on a busy machine follows one that says that nothing came in time.
    private static void AwaitWord(StreamReader server, params string[] words)
    {
        string? line;
        do
        {
            line = server.ReadLine();
        }
        while (line is not null && !Has(line, Leads) && !words.Any(word => Has(line, word)));
        Assert.True(line is not null && words.Any(word => Has(line, word)), line);
    }

    private static bool Has(string line, string word) => line.Contains(word, StringComparison.Ordinal);

    private StreamReader Start(Uri etcd, params string[] options) =>
        _tools.Start(["gms", "--listen", "127.0.0.1:0", "--cluster", _cluster, "--verbose", "--etcd", etcd.ToString(), .. options])
            .StandardError;

    private EtcdKeys MakeKeys(string authority) =>
        new(Authority(authority), Certificate(authority, $"etcd {authority}", "both", "--host", "127.0.0.1"));

    private string Authority(string name) => Make("authority", "--name", name, "--out", PathOf($"{name}-authority.pem"));

    private string Certificate(string authority, string name, string role, params string[] options) => Make(
        ["certificate", "--authority", PathOf($"{authority}-authority.pem"), "--name", name, "--role", role, .. options, "--out",
            PathOf($"{name}.pem")]);

    private string Make(params string[] command)
    {
        var (code, _, errors) = _tools.Run(["keys", .. command]);
        Assert.True(code == 0, errors);
        return command[^1];
    }

    private string PathOf(string file) => Path.Combine(_folder.FullName, file);
}
