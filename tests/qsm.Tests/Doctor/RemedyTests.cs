using System.Diagnostics;
using System.Net;
using QuickSilver.Tool.Doctor;
using QuickSilver.Tool.Doctor.Checks;
using QuickSilver.Tool.Doctor.Checks.Network;
using QuickSilver.Tool.Doctor.Keys;

namespace QuickSilver.Tool.Tests.Doctor;

// Remedies are pasted into shells, and names in them come from other hosts: a shell must take each for one word.
public sealed class RemedyTests
{
    private static readonly DateTimeOffset Now = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);

    public static TheoryData<string> Names =>
        new() { "O'Brien", "x'; touch pwned; '", "$(id) `id` \"$HOME\"", "a b", "--out", "n!ame", "é&|>*" };

    [Theory]
    [MemberData(nameof(Names))]
    public void The_name_of_a_certificate_is_one_word_of_the_command(string name)
    {
        var member = new CertificateDates(name, CertificateUse.Etcd, Now.AddDays(-1), Now) { Role = "both", Where = "etcd-1:2379" };
        string[] words = WordsOf(Assert.Single(Remedies(member)));
        Assert.Equal(name, ValueOf(words, "--name"));
        Assert.Equal(name[0] == '-' ? $"./{name}.pem" : $"{name}.pem", ValueOf(words, "--out"));
        Assert.Equal("--force", words[^1]);

        var authority = new CertificateDates(name, CertificateUse.Authority, Now.AddDays(-1), Now) { File = "authority.pem" };
        Assert.Equal(name, ValueOf(WordsOf(Remedies(authority)[0]), "--name"));
    }

    [Theory]
    [InlineData("../../etc/cron.d/job")]
    [InlineData("/etc/cron.d/job")]
    [InlineData(@"..\job")]
    [InlineData(".bashrc")]
    public void The_name_of_a_certificate_chooses_no_other_folder_and_no_hidden_file(string name)
    {
        var member = new CertificateDates(name, CertificateUse.Etcd, Now.AddDays(-1), Now) { Where = "10.0.0.1:2379" };
        string[] words = WordsOf(Assert.Single(Remedies(member)));
        Assert.Equal((name, "certificate.pem"), (ValueOf(words, "--name"), ValueOf(words, "--out")));
    }

    [Theory]
    [InlineData("")]
    [InlineData("red\u001b[31m")]
    [InlineData("two\nlines")]
    public void A_name_that_no_certificate_can_be_made_with_is_left_to_the_reader(string name)
    {
        var member = new CertificateDates(name, CertificateUse.Etcd, Now.AddDays(-1), Now) { Where = "10.0.0.1:2379" };
        var finding = DoctorReport.Printable(Assert.Single(CertificateCheck.Of([member], Now)));
        Assert.DoesNotContain(finding.Text, char.IsControl);
        string[] words = WordsOf(Assert.Single(finding.Remedies).Command);
        Assert.Equal(("NAME", "certificate.pem"), (ValueOf(words, "--name"), ValueOf(words, "--out")));
    }

    [Theory]
    [InlineData("our keys/O'Brien.pem")]
    [InlineData("$(id)/file;.pem")]
    [InlineData("-rf")]
    public void A_file_is_one_word_of_each_command(string file)
    {
        string word = file[0] == '-' ? $"./{file}" : file;
        var authority = new CertificateDates("house", CertificateUse.Authority, Now.AddDays(-1), Now) { File = file };
        Assert.Equal([word, $"{word}.new"], WordsOf(Remedies(authority)[1], "cp")[2..]);
        Assert.Equal([$"{word}.new", word], WordsOf(Remedies(authority)[1], "mv")[1..]);

        var readable = new SecurityFacts(SecurityMode.Auto, Unprotected: null, Fault: null, "cluster", IsSecret: true) { ReadByAll = file };
        Assert.Equal(["chmod", "600", word], WordsOf(Assert.Single(SecurityCheck.Of(readable).Remedies).Command, "chmod"));

        var member = new EtcdAnswer(new Uri("https://[fd00::1]:2379/"), "why");
        var etcd = new EtcdFacts([member], Voters: 1) { CertificateFile = file, AuthorityFile = file };
        string[] words = WordsOf(EtcdCheck.AskOf(etcd).Command, "etcdctl");
        Assert.Equal("https://[fd00::1]:2379", ValueOf(words, "--endpoints"));
        Assert.All(["--cacert", "--cert", "--key"], option => Assert.Equal(word, ValueOf(words, option)));

        var keys = new KeyFacts(KeyKind.Secret) { File = file };
        words = WordsOf(Assert.Single(KeyRemedies.Start(keys, new IPEndPoint(IPAddress.IPv6Loopback, 7400), "a 'b'").Remedies).Command);
        Assert.Equal(
            ("[::1]:7400", "a 'b'", word), (ValueOf(words, "--listen"), ValueOf(words, "--cluster"), ValueOf(words, "--security")));
    }

    [Theory]
    [InlineData("eth0;id")]
    [InlineData("$(id)")]
    [InlineData("it's")]
    public void An_interface_is_one_word_of_each_command(string name)
    {
        var mtu = MtuCheck.OfInterface(new MtuFacts(name, InterfaceMtu: 1400, PacketBytes: 1472));
        Assert.Equal(name, WordsOf(mtu.Remedies[0].Command, "ip")[4]);
        var group = new IPEndPoint(IPAddress.Parse("239.255.74.3"), 7403);
        var off = Assert.Single(MulticastCheck.Of(new MulticastFacts(name, group) { CarriesMulticast = false }));
        Assert.Equal(name, WordsOf(off.Remedies[0].Command, "ip")[4]);
        var refused = Assert.Single(MulticastCheck.Of(new MulticastFacts(name, group) { Fault = "No" }));
        Assert.Equal(name, WordsOf(refused.Remedies[0].Command, "ip")[^1]);
        var chain = new FirewallChain("inet", name, "input", IsInput: true);
        Assert.Equal(["nft", $"insert rule inet {name} input accept"], WordsOf(chain.Insert("accept").Command, "nft"));
    }

    [Fact]
    public void Nothing_that_is_printed_controls_a_terminal_and_a_command_that_would_is_not_shown()
    {
        var finding = DoctorReport.Printable(new Finding(
            "check", FindingStatus.Problem, "It is \u001b[2J.", new Remedy("ls 'a\rb'"), new Remedy("ls b", "host\u0007")));
        Assert.Equal("It is \uFFFD[2J. A command is not shown, as a name in it has control characters.", finding.Text);
        Assert.Equal([new Remedy("ls b", "host\uFFFD")], finding.Remedies);
        string json = DoctorReport.Of("c", [new Finding("check", FindingStatus.Ok, "\u001b", new Remedy("a\nb"))]).ToJson();
        Assert.DoesNotContain("u001b", json, StringComparison.OrdinalIgnoreCase);
        Assert.DoesNotContain(@"a\nb", json);
    }

    private static string[] Remedies(CertificateDates certificate) =>
        [.. Assert.Single(CertificateCheck.Of([certificate], Now)).Remedies.Select(static one => one.Command)];

    private static string ValueOf(string[] words, string option) =>
        words.FirstOrDefault(one => one.StartsWith($"{option}=", StringComparison.Ordinal)) is { } joined
            ? joined[(option.Length + 1)..]
            : words[Array.IndexOf(words, option) + 1];

    // The words that a shell gives to one program of a command, that program first. Nothing is run.
    private static string[] WordsOf(string command, string program = "qsm")
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Commands are for a POSIX shell.");
        string[] programs = ["qsm", "cp", "mv", "chmod", "etcdctl", "ip", "nft"];
        string[] stubs =
            [.. programs.Select(one => one == program ? $"{one}() {{ printf '%s\\0' {one} \"$@\"; }};" : $"{one}() {{ :; }};")];
        // No folder has programs, so what is not one word would be an error.
        var folder = Directory.CreateTempSubdirectory("qsm-remedy-");
        try
        {
            string script = $"{string.Concat(stubs)} cat() {{ :; }}; {Tamed(command)}";
            using var shell = Process.Start(new ProcessStartInfo("/bin/sh", ["-c", script])
            {
                RedirectStandardOutput = true,
                RedirectStandardError = true,
                WorkingDirectory = folder.FullName,
                Environment = { ["PATH"] = folder.FullName },
            })!;
            string output = shell.StandardOutput.ReadToEnd();
            string errors = shell.StandardError.ReadToEnd();
            shell.WaitForExit();
            Assert.Equal("", errors);
            Assert.Empty(folder.EnumerateFileSystemInfos());
            return output.Split('\0')[..^1];
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    // Without what a redirection would write.
    private static string Tamed(string command) => command.Replace(" >> ", " ", StringComparison.Ordinal);
}
