using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport.Tls;
using QuickSilver.Tool.Etcd;

namespace QuickSilver.Tool.Tests.Etcd;

// The dates of the files that etcd is shown, and by which it is trusted.
public sealed class EtcdCredentialsTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("qs-etcd-");
    private readonly ECDsa _key = ECDsa.Create(ECCurve.NamedCurves.nistP256);

    public void Dispose()
    {
        _key.Dispose();
        _folder.Delete(recursive: true);
    }

    [Fact]
    public void A_certificate_that_has_expired_or_is_not_valid_yet_is_refused_with_its_dates()
    {
        using var authority = Authority(-30, 30);
        foreach (var (from, until) in ((int, int)[])[(-8, -1), (1, 8)])
        {
            using var certificate = Issue(authority, from, until);
            string path = Write("own.pem", certificate);
            var refused = Assert.Throws<CredentialException>(() => EtcdCredentials.Read(Option("--etcd-certificate", path), null));
            Assert.StartsWith($"--etcd-certificate: {path} holds from {certificate.NotBefore.ToUniversalTime():u} to ", refused.Message);
        }

        using var valid = Issue(authority, -1, 8);
        Assert.True(EtcdCredentials.Read(Option("--etcd-certificate", Write("own.pem", valid)), null).HasOwn);
    }

    [Fact]
    public void Authorities_of_which_none_is_valid_are_refused_and_one_that_is_valid_is_enough()
    {
        using var past = Authority(-30, -1);
        using var now = Authority(-30, 30);
        string path = Path.Combine(_folder.FullName, "authority.pem");
        File.WriteAllText(path, past.ExportCertificatePem());
        var refused = Assert.Throws<CredentialException>(() => EtcdCredentials.Read(null, Option("--etcd-authority", path)));
        Assert.StartsWith($"--etcd-authority: {path} holds from ", refused.Message);

        File.AppendAllText(path, $"\n{now.ExportCertificatePem()}\n");
        Assert.False(EtcdCredentials.Read(null, Option("--etcd-authority", path)).HasOwn);
    }

    private static EtcdFile Option(string name, string path) => new(path, name);

    private X509Certificate2 Authority(int fromDays, int untilDays) => CertificateIssue.Authority(
        _key, CertificateIssue.Named("house"), DateTimeOffset.UtcNow.AddDays(fromDays), DateTimeOffset.UtcNow.AddDays(untilDays));

    private static X509Certificate2 Issue(X509Certificate2 authority, int fromDays, int untilDays) => CertificateIssue.Of(
        authority, "gms", PeerRole.Node, DateTimeOffset.UtcNow.AddDays(fromDays), DateTimeOffset.UtcNow.AddDays(untilDays));

    private string Write(string name, X509Certificate2 certificate)
    {
        string path = Path.Combine(_folder.FullName, name);
        using var key = certificate.GetECDsaPrivateKey()!;
        File.WriteAllText(path, $"{certificate.ExportCertificatePem()}\n{key.ExportPkcs8PrivateKeyPem()}\n");
        return path;
    }
}
