using QuickSilver.Tool.Doctor.Checks;
using QuickSilver.Tool.Doctor.Keys;

namespace QuickSilver.Tool.Tests.Doctor;

// What is judged of secrets and certificates.
public sealed class SecurityCheckTests
{
    private static readonly DateTimeOffset Now = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);
    private static readonly SecurityFacts Nothing = new(SecurityMode.Auto, Unprotected: null, Fault: null, Identity: null, IsSecret: false);

    private static readonly CertificateDates Own =
        new("pricer", CertificateUse.Own, Now.AddDays(-1), Now.AddDays(100)) { File = "keys/pricer.pem", Role = "both" };

    private static readonly CertificateDates Authority =
        new("house", CertificateUse.Authority, Now.AddDays(-1), Now.AddDays(1_000)) { File = "keys/authority.pem" };

    [Fact]
    public void A_node_without_a_key_on_a_network_would_not_start()
    {
        var finding = SecurityCheck.Of(Nothing with { Unprotected = "10.0.0.5 (eth0): why" });
        Assert.Equal(FindingStatus.Problem, finding.Status);
        Assert.Contains("does not start on 10.0.0.5 (eth0)", finding.Text);
        Assert.Equal("qsm keys secret --out cluster.secret", finding.Remedies[0].Command);
    }

    [Fact]
    public void Files_that_cannot_be_used_are_a_problem_and_what_protects_is_named()
    {
        var unusable = SecurityCheck.Of(Nothing with { Fault = "No." });
        Assert.Equal((FindingStatus.Problem, "No."), (unusable.Status, unusable.Text));
        Assert.Contains("the secret 'cluster'", Ok(Nothing with { Identity = "cluster", IsSecret = true }));
        Assert.Contains("the certificate 'pricer'", Ok(Nothing with { Identity = "pricer" }));
        Assert.Contains("by name", Ok(Nothing with { Mode = SecurityMode.None }));
        Assert.Contains("loopback", Ok(Nothing));
    }

    [Theory]
    [InlineData(KeyKind.Secret, false, false, "qsm keys secret --out keys/file")]
    [InlineData(KeyKind.Secret, false, true, "scp HOST:FILE keys/file")]
    [InlineData(KeyKind.Certificate, true, true, "scp HOST:AUTHORITY keys/file")]
    [InlineData(KeyKind.Certificate, true, false, "qsm keys authority --out keys/file")]
    [InlineData(
        KeyKind.Certificate, false, true,
        "qsm keys certificate --authority authority.pem --name 'file' --role node --out 'file' --force")]
    public void A_file_that_cannot_be_used_is_given_the_command_that_makes_another(
        object kind, bool isOfAuthority, bool exists, string command)
    {
        var finding = SecurityCheck.Of(Nothing with
        {
            Fault = "No.",
            Keys = new KeyFacts((KeyKind)kind) { Authority = "house.pem" },
            Unusable = new UnusableFile("keys/file") { IsOfAuthority = isOfAuthority, Exists = exists },
        });
        Assert.Equal(FindingStatus.Problem, finding.Status);
        Assert.StartsWith("No. ", finding.Text);
        Assert.Equal(command, Assert.Single(finding.Remedies).Command);
    }

    [Fact]
    public void A_file_that_the_user_may_not_read_is_given_to_the_user_and_not_replaced()
    {
        var finding = SecurityCheck.Of(Nothing with
        {
            Fault = "No.",
            Keys = new KeyFacts(KeyKind.Secret),
            Unusable = new UnusableFile("keys/my file") { Exists = true, ForbiddenTo = "app" },
        });
        Assert.Equal([new Remedy("chown app 'keys/my file'")], finding.Remedies);
    }

    [Fact]
    public void A_variable_that_has_no_secret_is_filled_from_a_file()
    {
        var finding = SecurityCheck.Of(Nothing with { Fault = "No.", Keys = new KeyFacts(KeyKind.Variable) });
        Assert.Equal([new Remedy("export QS_SECRET=\"$(cat cluster.secret)\"")], finding.Remedies);
    }

    [Fact]
    public void Certificates_that_cannot_be_read_are_not_said_to_be_absent()
    {
        var none = Assert.Single(CertificateCheck.Of([], Now, lacksOwn: true));
        Assert.Equal(FindingStatus.NotChecked, none.Status);
        Assert.StartsWith("Those of this node cannot be used", none.Text);
        Assert.Equal(
            [FindingStatus.NotChecked, FindingStatus.Ok],
            CertificateCheck.Of([Authority], Now, lacksOwn: true).Select(static one => one.Status));
    }

    [Fact]
    public void A_secret_that_every_user_of_the_machine_can_read_is_a_warning()
    {
        var finding = SecurityCheck.Of(Nothing with { Identity = "cluster", IsSecret = true, ReadByAll = "keys/cluster.secret" });
        Assert.Equal(FindingStatus.Warning, finding.Status);
        Assert.Contains("Every user of this machine can read keys/cluster.secret", finding.Text);
        Assert.Equal("chmod 600 'keys/cluster.secret'", Assert.Single(finding.Remedies).Command);
    }

    [Fact]
    public void Certificates_that_are_valid_for_long_are_in_order_and_secrets_have_none()
    {
        var finding = Assert.Single(CertificateCheck.Of([Own, Authority], Now));
        Assert.Equal(FindingStatus.Ok, finding.Status);
        Assert.EndsWith("The first to end is that of this node, 'pricer', on 2026-06-09.", finding.Text);
        Assert.Equal(FindingStatus.NotChecked, Assert.Single(CertificateCheck.Of([], Now)).Status);
    }

    [Fact]
    public void A_certificate_that_has_expired_is_a_problem_and_one_that_soon_does_a_warning_with_the_command_that_makes_another()
    {
        const string Command = "qsm keys certificate --authority authority.pem --name 'pricer' --role both --out 'pricer.pem' --force";
        var expired = Assert.Single(CertificateCheck.Of([Own with { Until = Now }, Authority], Now));
        Assert.Equal(FindingStatus.Problem, expired.Status);
        Assert.Contains("of this node, 'pricer' has expired on 2026-03-01 12:00:00Z.", expired.Text);
        Assert.Equal(new Remedy(Command, "the host of the authority"), Assert.Single(expired.Remedies));

        var soon = Assert.Single(CertificateCheck.Of([Own with { Until = Now.AddDays(14).AddSeconds(-1) }], Now));
        Assert.Equal(FindingStatus.Warning, soon.Status);
        Assert.Contains("expires in 13 days", soon.Text);
        Assert.Equal(Command, Assert.Single(soon.Remedies).Command);
        Assert.Equal(FindingStatus.Ok, Assert.Single(CertificateCheck.Of([Own with { Until = Now.AddDays(14) }], Now)).Status);
    }

    [Fact]
    public void A_certificate_of_a_service_that_soon_expires_is_reported_with_the_address_of_the_service()
    {
        var gms = new CertificateDates("gms-1", CertificateUse.Service, Now.AddDays(-1), Now.AddDays(3))
        {
            Role = "service",
            Where = "10.0.0.5:7400",
        };
        var finding = Assert.Single(CertificateCheck.Of([Own, Authority, gms], Now));
        Assert.Equal(FindingStatus.Warning, finding.Status);
        Assert.Contains("The certificate of the service 'gms-1' at 10.0.0.5:7400 expires in 3 days", finding.Text);
        Assert.Equal(
            "qsm keys certificate --authority authority.pem --name 'gms-1' --role service --out 'gms-1.pem' --force",
            Assert.Single(finding.Remedies).Command);
    }

    [Fact]
    public void Certificates_of_etcd_that_soon_expire_are_renewed_by_the_authority_of_etcd()
    {
        var member = new CertificateDates("etcd", CertificateUse.Etcd, Now.AddDays(-1), Now.AddDays(3))
        {
            Role = "both",
            Where = "[fd00::1]:2379",
        };
        var client = new CertificateDates("gms", CertificateUse.EtcdClient, Now.AddDays(-1), Now) { File = "keys/etcd-client.pem" };
        var findings = CertificateCheck.Of([Own, Authority, client, member], Now);
        Assert.Equal([FindingStatus.Problem, FindingStatus.Warning], findings.Select(static one => one.Status));
        Assert.Contains("of this host towards etcd, 'gms' has expired", findings[0].Text);
        Assert.Contains("of the member of etcd 'etcd' at [fd00::1]:2379 expires in 3 days", findings[1].Text);
        const string Make = "qsm keys certificate --authority etcd-authority.pem --name ";
        Assert.Equal(
            [
                Make + "'gms' --role node --out 'etcd-client.pem' --force",
                Make + "'etcd' --role both --host fd00::1 --host 127.0.0.1 --out 'etcd.pem' --force",
            ],
            findings.Select(static one => Assert.Single(one.Remedies).Command));
    }

    [Fact]
    public void A_certificate_that_is_not_valid_yet_points_to_the_clock()
    {
        var finding = Assert.Single(CertificateCheck.Of([Own with { From = Now.AddHours(1) }], Now));
        Assert.Equal((FindingStatus.Problem, "timedatectl set-ntp true"), (finding.Status, Assert.Single(finding.Remedies).Command));
        Assert.Contains("is not valid before 2026-03-01 13:00:00Z, and it is 2026-03-01 12:00:00Z", finding.Text);
    }

    [Fact]
    public void An_authority_that_ends_is_replaced_on_all_machines()
    {
        var finding = Assert.Single(CertificateCheck.Of([Own, Authority with { Until = Now.AddHours(30) }], Now));
        Assert.Equal(FindingStatus.Warning, finding.Status);
        Assert.Contains("of the authority 'house' expires in 30 h", finding.Text);
        Assert.Equal(
            [
                "qsm keys authority --name 'house' --out authority-new.pem",
                "cp -p keys/authority.pem keys/authority.pem.new && cat authority-new.pem >> keys/authority.pem.new "
                    + "&& mv keys/authority.pem.new keys/authority.pem",
            ],
            finding.Remedies.Select(static remedy => remedy.Command));
    }

    private static string Ok(SecurityFacts facts)
    {
        var finding = SecurityCheck.Of(facts);
        Assert.Equal(FindingStatus.Ok, finding.Status);
        return finding.Text;
    }
}
