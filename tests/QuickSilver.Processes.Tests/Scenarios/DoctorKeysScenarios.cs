using System.Text.Json;

namespace QuickSilver.Processes.Tests.Scenarios;

// What the doctor says of a protected service, of keys and of several servers, on the loopback interface.
public sealed class DoctorKeysScenarios : IDisposable
{
    private readonly string _cluster = $"doctor {Guid.NewGuid():N}";
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("qsm-doctor-");
    private readonly ToolProcesses _tools = new();

    public void Dispose()
    {
        _tools.Dispose();
        _folder.Delete(recursive: true);
    }

    [Fact]
    public void A_service_with_a_secret_is_examined_with_that_secret_and_refuses_another_and_none()
    {
        string secret = Make("secret", "--out", PathOf("cluster.secret"));
        string other = Make("secret", "--out", PathOf("other.secret"));
        string service = Start("--security", secret);

        var known = Examine(service, "--security", secret);
        Assert.Equal(("ok", "ok"), (known["security"].Status, known["service"].Status));
        Assert.Contains("the secret 'cluster'", known["security"].Text);
        Assert.Equal("not checked", known["certificates"].Status);

        var stranger = Examine(service, "--security", other);
        Assert.Equal(("ok", "problem"), (stranger["security"].Status, stranger["service"].Status));
        Assert.Contains("is not of this secret", stranger["service"].Text);

        var none = Examine(service);
        Assert.Equal("problem", none["service"].Status);
        Assert.Contains("requires security", none["service"].Text);
    }

    [Fact]
    public void Certificates_that_end_soon_are_told_with_the_command_that_makes_others()
    {
        string authority = Make("authority", "--out", PathOf("authority.pem"));
        string server = Certificate("gms", "service", 365);
        string service = Start("--security", server, "--authority", authority);

        var well = Examine(service, "--security", Certificate("pricer", "node", 100), "--authority", authority);
        Assert.Equal(("ok", "ok", "ok"), (well["security"].Status, well["certificates"].Status, well["service"].Status));
        Assert.Contains("the certificate 'pricer'", well["security"].Text);

        var soon = Examine(service, "--security", Certificate("desk", "both", 10), "--authority", authority);
        Assert.Equal(("warning", "ok"), (soon["certificates"].Status, soon["service"].Status));
        Assert.Contains("of this node, 'desk' expires in 9 days", soon["certificates"].Text);
        Assert.Equal(
            "qsm keys certificate --authority authority.pem --name 'desk' --role both --out 'desk.pem' --force",
            Assert.Single(soon["certificates"].Remedies).Command);

        var missing = Examine(service, "--security", server, "--authority", PathOf("absent.pem"));
        Assert.Equal("problem", missing["security"].Status);
        Assert.Contains("absent.pem cannot be read", missing["security"].Text);
    }

    [Fact]
    public void A_certificate_of_the_service_that_ends_soon_is_told_on_other_machines()
    {
        string authority = Make("authority", "--out", PathOf("authority.pem"));
        string service = Start("--security", Certificate("gms", "service", 5), "--authority", authority);
        var report = Examine(service, "--security", Certificate("pricer", "node", 100), "--authority", authority);
        Assert.Equal(("warning", "ok"), (report["certificates"].Status, report["service"].Status));
        Assert.Contains($"of the service 'gms' at {service} expires in 4 days", report["certificates"].Text);
    }

    [SkippableFact]
    public void Servers_of_one_service_are_counted_and_one_that_is_away_is_named()
    {
        Skip.If(EtcdServer.Missing is not null, EtcdServer.Missing);
        using var etcd = new EtcdServer();
        string first = Start("--etcd", etcd.Address.ToString());
        string second = Start("--etcd", etcd.Address.ToString());
        var both = Until(() => Examine($"{first},{second}"), static report => report["servers"].Status == "ok");
        Assert.Contains("2 of 2 servers answer, and 127.0.0.1:", both["servers"].Text);

        var away = Examine($"{first},{second},127.0.0.1:1");
        Assert.Equal(("warning", "ok"), (away["servers"].Status, away["service"].Status));
        Assert.Contains("2 of 3 servers answer", away["servers"].Text);
        Assert.Contains("127.0.0.1:1 does not", away["servers"].Text);
    }

    [SkippableFact]
    public void Servers_that_answer_and_of_which_none_leads_are_told_from_servers_that_are_away()
    {
        Skip.If(EtcdServer.Missing is not null, EtcdServer.Missing);
        using var etcd = new EtcdServer();
        string servers = $"{Start("--etcd", etcd.Address.ToString())},{Start("--etcd", etcd.Address.ToString())}";
        Assert.Equal("ok", Until(() => Examine(servers), static report => report["servers"].Status == "ok")["servers"].Status);

        etcd.Kill();
        var idle = Until(
            () => Examine(servers), static report => report["service"].Text.StartsWith("No server leads", StringComparison.Ordinal));
        Assert.Equal(("problem", "problem"), (idle["servers"].Status, idle["service"].Status));
        Assert.StartsWith("2 of 2 servers answer, and none leads.", idle["servers"].Text);
        Assert.Equal("etcdctl endpoint health", idle["servers"].Remedies[0].Command);
        Assert.Equal("etcdctl endpoint health", Assert.Single(idle["service"].Remedies).Command);
    }

    [SkippableFact]
    public void The_members_of_etcd_are_asked_with_the_certificate_of_this_host_and_those_that_are_away_are_named()
    {
        Skip.If(EtcdServer.Missing is not null, EtcdServer.Missing);
        string authority = Make("authority", "--out", PathOf("authority.pem"));
        string server = Certificate("etcd", "both", 100, "--host", "127.0.0.1");
        string own = Certificate("gms", "node", 100);
        using var etcd = new EtcdServer(new EtcdKeys(authority, server));
        string member = etcd.Address.ToString().TrimEnd('/');
        string[] shown = ["--etcd-authority", authority, "--etcd-certificate", own];

        var well = ExamineEtcd([member], shown);
        Assert.Equal(
            ("ok", "1 of 1 members answers. It is the only one: while it is away, no server can lead."), (well.Status, well.Text));

        var away = ExamineEtcd([member, "https://127.0.0.1:1"], shown);
        Assert.Equal("warning", away.Status);
        Assert.Contains("https://127.0.0.1:1/ does not answer: Connection refused", away.Text);
        Assert.Equal(
            [
                new Cure("systemctl status etcd", "127.0.0.1"),
                new Cure($"etcdctl --endpoints {member} --cacert {authority} --cert {own} --key {own} endpoint health --cluster", null),
            ],
            away.Remedies);

        Assert.Contains("absent.pem cannot be read", ExamineEtcd([member], "--etcd-certificate", PathOf("absent.pem")).Text);
        var stranger = ExamineEtcd([member], "--etcd-authority", authority);
        Assert.Equal("problem", stranger.Status);
        Assert.Contains("requires a certificate", stranger.Text);
        Assert.DoesNotContain(stranger.Remedies, static remedy => remedy.Command.Contains("systemctl", StringComparison.Ordinal));

        etcd.Kill();
        var none = ExamineEtcd([member], shown);
        Assert.Equal("problem", none.Status);
        Assert.StartsWith("0 of 1 members answer. No server can lead", none.Text);
    }

    [SkippableFact]
    public void A_certificate_of_etcd_that_ends_soon_is_told_on_the_hosts_of_servers()
    {
        Skip.If(EtcdServer.Missing is not null, EtcdServer.Missing);
        string authority = Make("authority", "--out", PathOf("authority.pem"));
        string server = Certificate("etcd", "both", 5, "--host", "127.0.0.1");
        using var etcd = new EtcdServer(new EtcdKeys(authority, server));
        string member = etcd.Address.ToString().TrimEnd('/');
        var report = ExamineWithEtcd(
            [member], "--etcd-authority", authority, "--etcd-certificate", Certificate("gms", "node", 100));
        Assert.Equal(("warning", "ok"), (report["certificates"].Status, report["etcd"].Status));
        Assert.Contains($"of the member of etcd 'etcd' at {etcd.Address.Authority} expires in 4 days", report["certificates"].Text);
    }

    // A server leads some moments after it has begun to listen.
    private static Report Until(Func<Report> examine, Predicate<Report> isIt)
    {
        for (int i = 0; ; i++)
        {
            var report = examine();
            if (isIt(report) || i == 20)
            {
                return report;
            }
        }
    }

    private string Start(params string[] options)
    {
        var server = _tools.Start(["gms", "--listen", "127.0.0.1:0", "--cluster", _cluster, .. options]);
        return ToolProcesses.Await(server.StandardError, "listening ")["listening ".Length..];
    }

    private string Certificate(string name, string role, int days, params string[] options) => Make(
        ["certificate", "--authority", PathOf("authority.pem"), "--name", name, "--role", role, "--days", $"{days}", .. options, "--out",
            PathOf($"{name}.pem")]);

    private string Make(params string[] command)
    {
        var (code, _, errors) = _tools.Run(["keys", .. command]);
        Assert.True(code == 0, errors);
        return command[^1];
    }

    private Report Examine(string service, params string[] options)
    {
        var (_, output, errors) = _tools.Run(["doctor", "--json", "--gms", service, "--cluster", _cluster, .. options]);
        Assert.True(output.Length > 0, errors);
        return new Report(JsonDocument.Parse(output).RootElement);
    }

    private Found ExamineEtcd(string[] members, params string[] options) => ExamineWithEtcd(members, options)["etcd"];

    private Report ExamineWithEtcd(string[] members, params string[] options)
    {
        var (_, output, errors) = _tools.Run(
            ["doctor", "--json", "--cluster", _cluster, "--gms", "127.0.0.1:1", "--etcd", string.Join(',', members), .. options]);
        Assert.True(output.Length > 0, errors);
        return new Report(JsonDocument.Parse(output).RootElement);
    }

    private string PathOf(string file) => Path.Combine(_folder.FullName, file);

    private sealed record Cure(string Command, string? Where);

    private sealed record Found(string Check, string Status, string Text, IReadOnlyList<Cure> Remedies);

    private sealed class Report(JsonElement json)
    {
        private readonly List<Found> _checks = json.GetProperty("checks").Deserialize<List<Found>>(JsonSerializerOptions.Web)!;

        public Found this[string check] => _checks.First(one => one.Check == check);
    }
}
