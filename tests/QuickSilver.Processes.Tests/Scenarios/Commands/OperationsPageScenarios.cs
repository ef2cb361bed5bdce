using QuickSilver.Processes.Tests.Harness;

namespace QuickSilver.Processes.Tests.Scenarios.Commands;

// The files that an operator installs by docs/operations.md.
public sealed class OperationsPageScenarios : IDisposable
{
    private static readonly string Folder = Path.Combine(Programs.Root, "docs", "operations");

    private readonly ToolProcesses _tools = new();

    private readonly DirectoryInfo _credentials = Directory.CreateTempSubdirectory("qsm-credentials-");

    public void Dispose()
    {
        _tools.Dispose();
        _credentials.Delete(recursive: true);
    }

    [Fact]
    public void The_unit_of_the_service_starts_a_server_that_leads_over_an_etcd_with_the_settings_of_the_page()
    {
        EtcdServer.SkipIfMissing();
        // What LoadCredential= gives the process.
        Make("secret", "--out", Credential("cluster.secret"));
        MakeKeysOfPage();
        using var etcd = new EtcdServer(
            new EtcdKeys(Credential("etcd-authority.pem"), Credential("etcd-1.pem")), SettingsOfEtcd);
        var settings = Settings("gms.env");
        Assert.All(settings["ETCD"].Split(','), static member => Assert.StartsWith("https://", member));
        settings["LISTEN"] = "127.0.0.1:0";
        settings["ETCD"] = etcd.Address.ToString();
        settings["CREDENTIALS_DIRECTORY"] = _credentials.FullName;
        var server = _tools.Start([.. Command("quicksilver-gms.service", settings), "--verbose"]);

        Assert.StartsWith("listening 127.0.0.1:", ToolProcesses.Await(server.StandardError, "listening "), StringComparison.Ordinal);
        string? line;
        do
        {
            line = server.StandardError.ReadLine();
        }
        while (line is not null && !line.Contains("This server leads", StringComparison.Ordinal));
        Assert.NotNull(line);
    }

    [Fact]
    public void The_unit_loads_each_credential_that_its_command_names()
    {
        string[] unit = File.ReadAllLines(Path.Combine(Folder, "quicksilver-gms.service"));
        var loaded = unit.Where(static line => line.StartsWith("LoadCredential=", StringComparison.Ordinal))
            .Select(static line => line.Split('=', 2)[1].Split(':')[0]);
        var named = CommandOf(unit).Split(' ').Where(static word => word.StartsWith("${CREDENTIALS_DIRECTORY}/", StringComparison.Ordinal))
            .Select(static word => word.Split('/')[1]);
        Assert.Equal(loaded.Order(), named.Order());
    }

    // The commands of the page, with this host's address instead of the first host's.
    private void MakeKeysOfPage()
    {
        string page = File.ReadAllText(Path.Combine(Folder, "..", "operations.md")).Split("## Protect etcd")[1];
        string[] commands =
            [.. page.Split("```")[1].Split('\n').Where(static line => line.StartsWith("qsm keys ", StringComparison.Ordinal))];
        Assert.Equal(5, commands.Length);
        foreach (string command in commands)
        {
            string[] words = [.. command.Replace("'etcd authority'", "etcd", StringComparison.Ordinal).Split(' ')];
            Make([.. words[2..].Select(word => word.EndsWith(".pem", StringComparison.Ordinal) ? Credential(word) : word)]);
        }
    }

    // The first host of the page as the only member, on the loopback interface.
    private Dictionary<string, string> SettingsOfEtcd(int port, int peerPort, string folder)
    {
        var settings = Settings("etcd.env");
        settings["ETCD_DATA_DIR"] = folder;
        settings["ETCD_LISTEN_CLIENT_URLS"] = settings["ETCD_LISTEN_CLIENT_URLS"].Split(',')[1];
        settings["ETCD_INITIAL_CLUSTER"] = settings["ETCD_INITIAL_CLUSTER"].Split(',')[0];
        return settings.ToDictionary(
            static one => one.Key,
            one => one.Value.Replace("10.0.0.1", "127.0.0.1", StringComparison.Ordinal)
                .Replace(":2379", $":{port}", StringComparison.Ordinal)
                .Replace(":2380", $":{peerPort}", StringComparison.Ordinal)
                .Replace("/etc/etcd/etcd.pem", Credential("etcd-1.pem"), StringComparison.Ordinal)
                .Replace("/etc/etcd", _credentials.FullName, StringComparison.Ordinal));
    }

    private void Make(params string[] command)
    {
        var (code, _, errors) = _tools.Run(["keys", .. command]);
        Assert.True(code == 0, errors);
    }

    private string Credential(string file) => Path.Combine(_credentials.FullName, file);

    private static string[] Command(string unit, Dictionary<string, string> settings)
    {
        string command = CommandOf(File.ReadAllLines(Path.Combine(Folder, unit)));
        foreach (var (name, value) in settings)
        {
            Assert.Contains($"${{{name}}}", command, StringComparison.Ordinal);
            command = command.Replace($"${{{name}}}", value, StringComparison.Ordinal);
        }

        string[] words = command.Split(' ');
        Assert.EndsWith("/qsm", words[0], StringComparison.Ordinal);
        Assert.DoesNotContain(words, static word => word.Contains('$', StringComparison.Ordinal));
        return words[1..];
    }

    // Lines that end with a backslash continue in the next.
    private static string CommandOf(string[] unit)
    {
        const string Key = "ExecStart=";
        int first = Array.FindIndex(unit, static line => line.StartsWith(Key, StringComparison.Ordinal));
        int last = Array.FindIndex(unit, first, static line => !line.EndsWith('\\'));
        return string.Join(' ', unit[first..(last + 1)].Select(static line => line.TrimEnd('\\').Trim()))[Key.Length..];
    }

    private static Dictionary<string, string> Settings(string file) => File.ReadLines(Path.Combine(Folder, file))
        .Where(static line => line.Length > 0 && line[0] != '#')
        .Select(static line => line.Split('=', 2))
        .ToDictionary(static pair => pair[0], static pair => pair[1], StringComparer.Ordinal);
}
