using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport.Tls;

namespace QuickSilver.Tool.Etcd;

// What this process shows to members of etcd, and whom it trusts. Immutable; a change makes another one.
internal sealed class EtcdCredentials
{
    private readonly SslStreamCertificateContext? _own;
    private readonly X509Certificate2Collection? _authorities;

    private EtcdCredentials(SslStreamCertificateContext? own, X509Certificate2Collection? authorities) =>
        (_own, _authorities) = (own, authorities);

    public bool HasOwn => _own is not null;

    /// <exception cref="CredentialException">A file cannot be used.</exception>
    public static EtcdCredentials Read(EtcdFile? certificate, EtcdFile? authority)
    {
        var now = DateTimeOffset.UtcNow;
        return new EtcdCredentials(
            certificate is null ? null : Named(certificate, path => ReadOwn(path, now)),
            authority is null ? null : Named(authority, path => ReadAuthorities(path, now)));
    }

    /// <summary>For one connection. Names are compared, and lists of what was revoked are not fetched.</summary>
    public SslClientAuthenticationOptions OptionsFor(string host) => new()
    {
        TargetHost = host,
        ClientCertificateContext = _own,
        CertificateChainPolicy = _authorities is null ? null : NewPolicy(_authorities),
        CertificateRevocationCheckMode = X509RevocationMode.NoCheck,
    };

    private static SslStreamCertificateContext ReadOwn(string path, DateTimeOffset now)
    {
        var (own, between) = CredentialFiles.ReadCertificate(path, keyPath: null);
        CheckDates(own, path, now);
        bool namesUsages = own.Extensions.OfType<X509EnhancedKeyUsageExtension>().Any();
        return !namesUsages || CertificateIssue.RolesOf(own).HasFlag(PeerRole.Node)
            ? SslStreamCertificateContext.Create(own, between, offline: true)
            : throw new CredentialException($"{path} is not for a client (extended key usage clientAuth).");
    }

    private static X509Certificate2Collection ReadAuthorities(string path, DateTimeOffset now)
    {
        var authorities = CredentialFiles.ReadAuthorities(path);
        if (!authorities.Any(one => one.NotBefore <= now && now < one.NotAfter))
        {
            CheckDates(authorities[0], path, now);
        }

        return authorities;
    }

    private static void CheckDates(X509Certificate2 certificate, string path, DateTimeOffset now)
    {
        if (now < certificate.NotBefore || now >= certificate.NotAfter)
        {
            throw new CredentialException(
                $"{path} holds from {certificate.NotBefore.ToUniversalTime():u} to {certificate.NotAfter.ToUniversalTime():u}, and it is "
                + $"{now:u} here. Replace it, or set the clock.");
        }
    }

    private static X509ChainPolicy NewPolicy(X509Certificate2Collection authorities)
    {
        var policy = new X509ChainPolicy
        {
            TrustMode = X509ChainTrustMode.CustomRootTrust,
            RevocationMode = X509RevocationMode.NoCheck,
            DisableCertificateDownloads = true,
        };
        policy.CustomTrustStore.AddRange(authorities);
        policy.ApplicationPolicy.Add(new Oid(CertificateIssue.ServerUsage));
        return policy;
    }

    private static T Named<T>(EtcdFile file, Func<string, T> read)
    {
        try
        {
            return read(file.Path);
        }
        catch (CredentialException exception)
        {
            throw new CredentialException($"{file.Source}: {exception.Message}", exception);
        }
    }
}
