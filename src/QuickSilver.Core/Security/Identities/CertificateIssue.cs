using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace QuickSilver.Core.Security.Identities;

// Makes authorities, and the certificates of nodes and services: ECDSA over P-256, as all of TLS 1.3 knows it.
internal static class CertificateIssue
{
    public const string ServerUsage = "1.3.6.1.5.5.7.3.1";
    public const string ClientUsage = "1.3.6.1.5.5.7.3.2";
    private const int SerialBytes = 16;

    public static X509Certificate2 Authority(ECDsa key, X500DistinguishedName subject, DateTimeOffset from, DateTimeOffset until)
    {
        var request = new CertificateRequest(subject, key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, true, 0, true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign | X509KeyUsageFlags.CrlSign, true));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, false));
        return request.CreateSelfSigned(from, until);
    }

    /// <summary>A certificate with its key, signed by an authority with its key.</summary>
    /// <param name="authority">The authority.</param>
    /// <param name="name">The common name.</param>
    /// <param name="role">What it is for.</param>
    /// <param name="from">When it begins to hold.</param>
    /// <param name="until">When it ends.</param>
    /// <param name="hosts">Names and addresses, for programs that compare them. QuickSilver does not.</param>
    public static X509Certificate2 Of(
        X509Certificate2 authority,
        string name,
        PeerRole role,
        DateTimeOffset from,
        DateTimeOffset until,
        params IReadOnlyList<string> hosts)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest(Named(name), key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(false, false, 0, true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.DigitalSignature, true));
        var usages = new OidCollection();
        if (role.HasFlag(PeerRole.Service))
        {
            usages.Add(new Oid(ServerUsage));
        }

        if (role.HasFlag(PeerRole.Node))
        {
            usages.Add(new Oid(ClientUsage));
        }

        request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension(usages, false));
        if (hosts.Count > 0)
        {
            request.CertificateExtensions.Add(Hosts(hosts));
        }

        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, false));
        request.CertificateExtensions.Add(X509AuthorityKeyIdentifierExtension.CreateFromCertificate(authority, true, false));
        // The key is random, so its hash is a serial number that no other certificate has.
        byte[] serial = SHA256.HashData(request.PublicKey.EncodedKeyValue.RawData)[..SerialBytes];
        serial[0] &= 0x7f;
        serial[0] |= 0x40;
        using var certificate = request.Create(authority, from, until, serial);
        return Usable(certificate.CopyWithPrivateKey(key));
    }

    public static X500DistinguishedName Named(string name, string? organization = null)
    {
        var builder = new X500DistinguishedNameBuilder();
        builder.AddCommonName(name);
        if (organization is not null)
        {
            builder.AddOrganizationName(organization);
        }

        return builder.Build();
    }

    /// <summary>The roles that a certificate names. One that names no usage has none: it was made for something else.</summary>
    public static PeerRole RolesOf(X509Certificate2 certificate)
    {
        var roles = PeerRole.None;
        foreach (var extension in certificate.Extensions.OfType<X509EnhancedKeyUsageExtension>())
        {
            foreach (var usage in extension.EnhancedKeyUsages)
            {
                roles |= usage.Value switch
                {
                    ServerUsage => PeerRole.Service,
                    ClientUsage => PeerRole.Node,
                    _ => PeerRole.None,
                };
            }
        }

        return roles;
    }

    /// <summary>On Windows, TLS takes only keys that the system's store has seen.</summary>
    public static X509Certificate2 Usable(X509Certificate2 certificate)
    {
        if (!OperatingSystem.IsWindows())
        {
            return certificate;
        }

        using (certificate)
        {
            return X509CertificateLoader.LoadPkcs12(certificate.Export(X509ContentType.Pkcs12), null);
        }
    }

    private static X509Extension Hosts(IReadOnlyList<string> hosts)
    {
        var names = new SubjectAlternativeNameBuilder();
        foreach (string host in hosts)
        {
            if (IPAddress.TryParse(host, out var address))
            {
                names.AddIpAddress(address);
            }
            else
            {
                names.AddDnsName(host);
            }
        }

        return names.Build();
    }
}
