using System.Globalization;
using System.Runtime.Versioning;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using QuickSilver.Processes.Tests.Harness;

namespace QuickSilver.Processes.Tests.Scenarios.Commands;

// What `qsm keys` writes, what of it is shown, and that nothing is replaced by accident.
[UnsupportedOSPlatform("windows")]
public sealed class KeysScenarios : IDisposable
{
    private const int Failed = 1;
    private const int Usage = 2;
    private const string ServerUsage = "1.3.6.1.5.5.7.3.1";
    private const string ClientUsage = "1.3.6.1.5.5.7.3.2";

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("qsm-keys-");
    private readonly ToolProcesses _tools = new();

    public void Dispose()
    {
        _tools.Dispose();
        _folder.Delete(recursive: true);
    }

    [Fact]
    public void A_secret_is_256_random_bits_in_a_file_that_only_its_user_reads()
    {
        string first = Make("a.secret", "secret", "trading");
        string second = Make("b.secret", "secret", "trading");
        Assert.NotEqual(first, second);
        string[] parts = first.Split(':');
        Assert.Equal(("quicksilver-secret", "trading"), (parts[0], parts[1]));
        Assert.Equal(32, Convert.FromBase64String(parts[2].TrimEnd('\n')).Length);
        AssertPrivate("a.secret");

        var (code, output, errors) = Keys("secret");
        Assert.Equal((0, ""), (code, errors));
        Assert.StartsWith("quicksilver-secret:cluster:", output);
        Assert.Equal(1, output.Count(static c => c == '\n'));
    }

    [Fact]
    public void An_authority_signs_certificates_for_the_roles_that_they_are_for()
    {
        _ = Make("authority.pem", "authority", "--name", "house", "--days", "100");
        AssertPrivate("authority.key");
        using var authority = X509Certificate2.CreateFromPemFile(PathOf("authority.pem"), PathOf("authority.key"));
        Assert.Equal("CN=house", authority.Subject);
        Assert.DoesNotContain("PRIVATE KEY", File.ReadAllText(PathOf("authority.pem")));

        (string Role, string[] Usages)[] roles =
            [("node", [ClientUsage]), ("service", [ServerUsage]), ("both", [ServerUsage, ClientUsage])];
        foreach (var (role, usages) in roles)
        {
            string[] command = ["certificate", "--authority", PathOf("authority.pem"), "--name", $"desk {role}", "--role", role];
            string pem = Make($"{role}.pem", command);
            AssertPrivate($"{role}.pem");
            using var certificate = X509Certificate2.CreateFromPem(pem, pem);
            Assert.Equal($"CN=desk {role}", certificate.Subject);
            var told = certificate.Extensions.OfType<X509EnhancedKeyUsageExtension>().Single().EnhancedKeyUsages;
            Assert.Equal(usages, told.Cast<Oid>().Select(static usage => usage.Value));
            using var chain = new X509Chain();
            chain.ChainPolicy.TrustMode = X509ChainTrustMode.CustomRootTrust;
            chain.ChainPolicy.RevocationMode = X509RevocationMode.NoCheck;
            chain.ChainPolicy.CustomTrustStore.Add(authority);
            Assert.True(chain.Build(certificate), string.Join(' ', chain.ChainStatus.Select(static one => one.StatusInformation)));
            // 365 days are asked for by default, and the authority has fewer.
            Assert.Equal(authority.NotAfter, certificate.NotAfter);
        }
    }

    [Fact]
    public void The_contents_of_a_file_are_shown_without_its_secrets()
    {
        string secret = Make("one.secret", "secret", "trading");
        File.AppendAllText(PathOf("one.secret"), Make("two.secret", "secret", "older"));
        string shown = Show("one.secret");
        Assert.Contains("trading", shown);
        Assert.Contains("older", shown);
        Assert.Equal(2, shown.Split("fingerprint").Length - 1);
        Assert.DoesNotContain(secret.Split(':')[2][..8], shown);

        _ = Make("authority.pem", "authority", "--name", "house");
        string pem = Make("node.pem", "certificate", "--authority", PathOf("authority.pem"), "--name", "pricer", "--role", "both");
        string certificate = Show("node.pem");
        using var read = X509Certificate2.CreateFromPem(pem, pem);
        string until = read.NotAfter.ToUniversalTime().ToString("u", CultureInfo.InvariantCulture);
        Assert.All((string[])["pricer", "house", "node and service", until], text => Assert.Contains(text, certificate));
        Assert.DoesNotContain("PRIVATE", certificate);
        Assert.Contains("authority", Show("authority.pem"));

        File.WriteAllText(PathOf("wrong"), "quicksilver-secret:x:c2hvcnQ=\n");
        var (code, output, errors) = Keys("show", PathOf("wrong"));
        Assert.Equal((Failed, ""), (code, output));
        Assert.Contains("line 1: Its key has 5 bytes, and at least 32 are required.", errors);
        Assert.DoesNotContain("c2hvcnQ", errors);
    }

    [Fact]
    public void No_file_is_replaced_unless_that_is_said()
    {
        _ = Make("authority.pem", "authority");
        string[][] commands =
        [
            ["secret", "--out", PathOf("cluster.secret")],
            ["authority", "--out", PathOf("authority.pem")],
            ["certificate", "--authority", PathOf("authority.pem"), "--name", "pricer", "--out", PathOf("pricer.pem")],
        ];
        foreach (string[] command in commands)
        {
            _ = Keys(command);
            string before = File.ReadAllText(command[^1]);
            var (code, _, errors) = Keys(command);
            Assert.Equal(Failed, code);
            Assert.Contains("exists. Replace it with --force", errors);
            Assert.Equal(before, File.ReadAllText(command[^1]));

            // What is replaced may have been open to others.
            File.SetUnixFileMode(command[^1], UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.OtherRead);
            Assert.Equal(0, Keys([.. command, "--force"]).Code);
            Assert.NotEqual(before, File.ReadAllText(command[^1]));
            AssertPrivate(Path.GetFileName(command[^1]));
        }

        Assert.Empty(_folder.GetFiles("*.new"));
    }

    [Fact]
    public void A_path_that_is_no_file_is_neither_written_nor_replaced()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "other systems have other files");
        string pipe = PathOf("pipe");
        using (var made = System.Diagnostics.Process.Start("mkfifo", [pipe]))
        {
            made.WaitForExit();
        }

        File.CreateSymbolicLink(PathOf("link"), pipe);
        File.CreateSymbolicLink(PathOf("null"), "/dev/null");
        Directory.CreateDirectory(PathOf("folder"));
        foreach (string path in (string[])[pipe, PathOf("link"), PathOf("null"), PathOf("folder"), "/dev/null"])
        {
            foreach (string[] force in (string[][])[[], ["--force"]])
            {
                var (code, output, errors) = Keys(["secret", "--out", path, .. force]);
                Assert.Equal((Failed, ""), (code, output));
                Assert.Contains($"{path} is ", errors);
                Assert.Contains("and not a file", errors);
            }
        }

        Assert.Contains(PathOf("link"), Directory.GetFiles(_folder.FullName));
        Assert.Equal(pipe, new FileInfo(PathOf("link")).LinkTarget);
        Assert.Empty(_folder.GetFiles("*.new"));

        // A link that leads to a file is replaced as a file is, and one that leads nowhere is not followed.
        Assert.Equal(0, Keys(["secret", "--out", PathOf("one.secret")]).Code);
        File.CreateSymbolicLink(PathOf("to-one"), PathOf("one.secret"));
        string before = File.ReadAllText(PathOf("one.secret"));
        Assert.Equal(0, Keys(["secret", "--out", PathOf("to-one"), "--force"]).Code);
        Assert.Equal(before, File.ReadAllText(PathOf("one.secret")));
    }

    [Fact]
    public void An_authority_of_which_one_file_exists_is_not_half_written()
    {
        File.WriteAllText(PathOf("authority.pem"), "mine");
        Assert.Equal(Failed, Keys("authority", "--out", PathOf("authority.pem")).Code);
        Assert.False(File.Exists(PathOf("authority.key")));
        var (code, _, errors) = Keys("authority", "--out", PathOf("authority.key"));
        Assert.Equal(Usage, code);
        Assert.Contains("is where the key goes", errors);
    }

    [Fact]
    public void An_authority_of_another_program_signs_or_is_refused_with_the_reason()
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP384);
        var now = DateTimeOffset.UtcNow;
        Write("young", new CertificateRequest("CN=young", key, HashAlgorithmName.SHA256), now.AddSeconds(-5), now.AddDays(1), key);
        Assert.StartsWith("-----BEGIN", Make("node.pem", "certificate", "--authority", PathOf("young.pem"), "--name", "pricer"));

        Write("old", new CertificateRequest("CN=old", key, HashAlgorithmName.SHA256), now.AddDays(-9), now.AddDays(-1), key);
        Refused("old.pem", "and not now. Make another one.");

        using var rsa = RSA.Create(2048);
        var request = new CertificateRequest("CN=rsa", rsa, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        Write("rsa", request, now.AddDays(-1), now.AddDays(1), rsa);
        Refused("rsa.pem", "cannot sign");
        Refused("absent.pem", "cannot be read");
    }

    [Fact]
    public void A_certificate_without_authorities_and_authorities_with_a_secret_are_refused()
    {
        _ = Make("authority.pem", "authority");
        _ = Make("node.pem", "certificate", "--authority", PathOf("authority.pem"), "--name", "pricer");
        _ = Make("cluster.secret", "secret");
        var (code, _, errors) = _tools.Run("nodes", "--security", PathOf("node.pem"));
        Assert.Equal(Usage, code);
        Assert.Contains("Give it with --authority, or in QS_AUTHORITY.", errors);

        (code, _, errors) = _tools.Run("nodes", "--security", PathOf("cluster.secret"), "--authority", PathOf("authority.pem"));
        Assert.Equal(Usage, code);
        Assert.Contains("--authority is for a certificate, and --security names none.", errors);
    }

    [Theory]
    [InlineData("NAME: A name has 1 to 64 ASCII letters, digits, ", "secret", "a b")]
    [InlineData("--name: a name has 1 to 64 characters", "certificate", "--authority", "x.pem", "--name", " ")]
    [InlineData("--role: 'admin' is none of node, service, both.", "certificate", "--authority", "x", "--name", "x", "--role", "admin")]
    [InlineData("--role: '4' is none of node, service, both.", "certificate", "--authority", "x", "--name", "x", "--role", "4")]
    [InlineData("--days: '0' is not a number from 1 to 36500.", "authority", "--days", "0")]
    public void A_wrong_command_line_is_refused(string said, params string[] arguments)
    {
        var (code, _, errors) = Keys(arguments);
        Assert.Equal(Usage, code);
        Assert.Contains(said, errors);
    }

    private void Refused(string authority, string why)
    {
        var (code, _, errors) = Keys("certificate", "--authority", PathOf(authority), "--name", "x", "--out", PathOf("x.pem"));
        Assert.Equal(Failed, code);
        Assert.Contains(why, errors);
        Assert.DoesNotContain("   at ", errors);
        Assert.False(File.Exists(PathOf("x.pem")));
    }

    private void Write(string name, CertificateRequest request, DateTimeOffset from, DateTimeOffset until, AsymmetricAlgorithm key)
    {
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, false, 0, true));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, false));
        using var certificate = request.CreateSelfSigned(from, until);
        File.WriteAllText(PathOf($"{name}.pem"), certificate.ExportCertificatePem());
        File.WriteAllText(PathOf($"{name}.key"), key.ExportPkcs8PrivateKeyPem());
    }

    private string Make(string file, params string[] command)
    {
        var (code, output, errors) = Keys([.. command, "--out", PathOf(file)]);
        Assert.True(code == 0, errors);
        Assert.Equal("", output);
        return File.ReadAllText(PathOf(file));
    }

    private string Show(string file)
    {
        var (code, output, errors) = Keys("show", PathOf(file));
        Assert.True(code == 0, errors);
        return output;
    }

    private void AssertPrivate(string file) =>
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(PathOf(file)));

    private string PathOf(string file) => Path.Combine(_folder.FullName, file);

    private (int Code, string Output, string Errors) Keys(params string[] arguments) => _tools.Run(["keys", .. arguments]);
}
