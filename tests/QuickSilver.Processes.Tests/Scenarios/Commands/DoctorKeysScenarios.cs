using System.Net;
using System.Net.Sockets;
using System.Text.Json;
using QuickSilver.Processes.Tests.Harness;

namespace QuickSilver.Processes.Tests.Scenarios.Commands;

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
        Assert.Equal(
            [new Cure($"qsm keys show {other}", null), new Cure("qsm keys show FILE", "127.0.0.1"), new Cure($"cp FILE {other}", null)],
            stranger["service"].Remedies);

        var none = Examine(service);
        Assert.Equal("problem", none["service"].Status);
        Assert.Contains("requires security", none["service"].Text);
        Assert.Equal(new Cure("qsm keys show FILE", "127.0.0.1"), none["service"].Remedies[0]);
    }

    [Fact]
    public void A_service_that_is_started_as_the_doctor_says_is_in_order_with_the_same_options()
    {
        string secret = Make("secret", "--out", PathOf("cluster.secret"));
        int port = FreePort();
        string[] command = StartCommand(port, "--security", secret);
        Assert.Equal(["--security", secret], command[^2..]);
        AssertServes(command, "--security", secret);

        string authority = Make("authority", "--out", PathOf("authority.pem"));
        string both = Certificate("desk", "both", 100);
        command = StartCommand(port, "--security", both, "--authority", authority);
        Assert.Equal(["--security", both, "--authority", authority], command[^4..]);
        AssertServes(command, "--security", both, "--authority", authority);
    }

    [Fact]
    public void Keys_that_cannot_be_used_are_a_finding_and_nothing_else_is_blamed()
    {
        string secret = Make("secret", "--out", PathOf("cluster.secret"));
        string service = Start("--security", secret);
        string absent = PathOf("absent.secret");
        var (code, output, _) = _tools.Run(["doctor", "--json", "--gms", service, "--cluster", _cluster, "--security", absent]);
        Assert.Equal(1, code);
        var missing = new Report(JsonDocument.Parse(output).RootElement);
        Assert.Equal(("problem", "not checked"), (missing["security"].Status, missing["service"].Status));
        Assert.Contains($"{absent} cannot be read", missing["security"].Text);
        Assert.Equal([new Cure($"qsm keys secret --out {absent}", null)], missing["security"].Remedies);

        string authority = Make("authority", "--out", PathOf("authority.pem"));
        string broken = PathOf("broken.pem");
        File.WriteAllText(broken, "-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n");
        var unusable = Examine(service, "--security", broken, "--authority", authority);
        Assert.Equal(("problem", "not checked"), (unusable["security"].Status, unusable["service"].Status));
        Assert.Equal(
            $"qsm keys certificate --authority {authority} --name 'broken' --role node --out '{broken}' --force",
            Assert.Single(unusable["security"].Remedies).Command);
        Assert.StartsWith("Those of this node cannot be used", unusable["certificates"].Text);

        // A secret where a file is expected stays a fault of the command line: a finding would show it.
        string text = File.ReadAllText(secret).Trim();
        Assert.Equal(2, _tools.Run(["doctor", "--json", "--gms", service, "--security", text]).Code);
    }

    [Fact]
    public void The_certificate_that_keeps_this_host_out_is_named()
    {
        string authority = Make("authority", "--out", PathOf("authority.pem"));
        string foreign = Make("authority", "--out", PathOf("foreign.pem"));
        string service = Start("--security", Certificate("gms", "service", 100), "--authority", authority);
        string spy = Make("certificate", "--authority", foreign, "--name", "spy", "--out", PathOf("spy.pem"));

        var other = Examine(service, "--security", spy, "--authority", foreign)["service"];
        Assert.Equal("problem", other.Status);
        Assert.Equal(new Cure($"qsm keys show {spy}", null), other.Remedies[0]);
        string next = $"{foreign}.new";
        Assert.Equal(new Cure($"cp -p {foreign} {next} && cat AUTHORITY >> {next} && mv {next} {foreign}", null), other.Remedies[^1]);

        var refused = Examine(service, "--security", spy, "--authority", authority)["service"];
        Assert.Equal(
            new Cure($"qsm keys certificate --authority {authority} --name 'spy' --role node --out '{spy}' --force", null),
            refused.Remedies[^1]);

        var alone = Examine(service, "--security", Certificate("gms-2", "service", 100), "--authority", authority)["service"];
        Assert.Contains("it is not for a node", alone.Text);
        Assert.Contains("--role both", Assert.Single(alone.Remedies).Command);
    }

    [Fact]
    public void A_service_of_another_cluster_and_one_without_a_key_are_reported()
    {
        string secret = Make("secret", "--out", PathOf("cluster.secret"));
        string service = Start();
        var open = Examine(service, "--security", secret)["service"];
        Assert.Contains("does not use TLS", open.Text);
        Assert.EndsWith($"--security {secret}", Assert.Single(open.Remedies).Command);

        var (_, output, _) = _tools.Run(["doctor", "--json", "--gms", service, "--cluster", "other"]);
        var other = new Report(JsonDocument.Parse(output).RootElement)["service"];
        Assert.Equal([new Cure($"export QuickSilver__Cluster='{_cluster}'", "every node")], other.Remedies);
    }

    [Fact]
    public void Certificates_that_end_soon_are_reported_with_the_command_that_makes_others()
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
    public void A_certificate_of_the_service_that_ends_soon_is_reported_on_other_machines()
    {
        string authority = Make("authority", "--out", PathOf("authority.pem"));
        string service = Start("--security", Certificate("gms", "service", 5), "--authority", authority);
        var report = Examine(service, "--security", Certificate("pricer", "node", 100), "--authority", authority);
        Assert.Equal(("warning", "ok"), (report["certificates"].Status, report["service"].Status));
        Assert.Contains($"of the service 'gms' at {service} expires in 4 days", report["certificates"].Text);
    }

    [Fact]
    public void Servers_of_one_service_are_counted_and_one_that_is_away_is_named()
    {
        EtcdServer.SkipIfMissing();
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

    [Fact]
    public void Servers_that_answer_and_of_which_none_leads_are_distinguished_from_servers_that_are_away()
    {
        EtcdServer.SkipIfMissing();
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

    [Fact]
    public void The_members_of_etcd_are_asked_with_the_certificate_of_this_host_and_those_that_are_away_are_named()
    {
        EtcdServer.SkipIfMissing();
        string authority = Make("authority", "--out", PathOf("authority.pem"));
        string server = Certificate("etcd", "both", 100, "--host", "127.0.0.1");
        string own = Certificate("gms", "node", 100);
        using var etcd = new EtcdServer(new EtcdKeys(authority, server));
        string member = etcd.Address.ToString().TrimEnd('/');
        string[] shown = ["--etcd-authority", authority, "--etcd-certificate", own];

        var well = ExamineEtcd([member], shown);
        Assert.Equal(
            ("ok", "1 of 1 member answers. It is the only one: while it is away, no server can lead."), (well.Status, well.Text));

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
        Assert.DoesNotContain("No server can lead", stranger.Text);

        var unverified = ExamineEtcd([member], "--etcd-certificate", own);
        Assert.Equal("problem", unverified.Status);
        Assert.StartsWith("This host cannot verify etcd, so it is not known whether a server can lead.", unverified.Text);
        Assert.Equal(
            $"etcdctl --endpoints {member} --cacert etcd-authority.pem --cert {own} --key {own} endpoint health --cluster",
            Assert.Single(unverified.Remedies).Command);

        etcd.Kill();
        var none = ExamineEtcd([member], shown);
        Assert.Equal("problem", none.Status);
        Assert.StartsWith("0 of 1 member answer. No server can lead", none.Text);
    }

    [Fact]
    public void A_certificate_of_etcd_that_ends_soon_is_reported_on_the_hosts_of_servers()
    {
        EtcdServer.SkipIfMissing();
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

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }

    // The words after `qsm`.
    private string[] StartCommand(int port, params string[] options)
    {
        string command = Assert.Single(Examine($"127.0.0.1:{port}", options)["service"].Remedies).Command;
        Assert.StartsWith($"qsm gms --listen 127.0.0.1:{port} --cluster '{_cluster}' ", command);
        string[] words = command.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        int security = Array.IndexOf(words, "--security");
        return ["gms", "--listen", $"127.0.0.1:{port}", "--cluster", _cluster, .. words[security..]];
    }

    private void AssertServes(string[] command, params string[] options)
    {
        var server = _tools.Start(command);
        string service = ToolProcesses.Await(server.StandardError, "listening ")["listening ".Length..];
        Assert.Equal("ok", Examine(service, options)["service"].Status);
        server.Kill();
        server.WaitForExit();
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
