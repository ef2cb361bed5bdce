namespace QuickSilver.Processes.Tests.Scenarios;

// The files that docs/operations.md tells an operator to install.
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

    [SkippableFact]
    public void The_unit_of_the_service_starts_a_server_with_its_settings()
    {
        Skip.If(EtcdServer.Missing is not null, EtcdServer.Missing);
        using var etcd = new EtcdServer();
        var settings = Settings("gms.env");
        settings["LISTEN"] = "127.0.0.1:0";
        settings["ETCD"] = etcd.Address.ToString();
        // What LoadCredential= gives the process.
        settings["CREDENTIALS_DIRECTORY"] = _credentials.FullName;
        var (code, _, errors) = _tools.Run("keys", "secret", "--out", Path.Combine(_credentials.FullName, "cluster.secret"));
        Assert.True(code == 0, errors);
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

    private static string[] Command(string unit, Dictionary<string, string> settings)
    {
        string command = File.ReadLines(Path.Combine(Folder, unit))
            .Single(static line => line.StartsWith("ExecStart=", StringComparison.Ordinal));
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

    private static Dictionary<string, string> Settings(string file) => File.ReadLines(Path.Combine(Folder, file))
        .Where(static line => line.Length > 0 && line[0] != '#')
        .Select(static line => line.Split('=', 2))
        .ToDictionary(static pair => pair[0], static pair => pair[1], StringComparer.Ordinal);
}
