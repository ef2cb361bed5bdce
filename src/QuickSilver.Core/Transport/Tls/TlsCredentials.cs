using System.Collections.Immutable;
using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using QuickSilver.Core.Security.Identities;

namespace QuickSilver.Core.Transport.Tls;

// The certificates that a process shows, and the authorities that it trusts. Immutable; a change makes another one.
//
// Of several secrets the first is the process's own: it is what it shows when it connects. To who connects with another of them, it shows
// the certificate of that one, which the other names at the beginning of the handshake. So a secret is replaced without a pause.
internal sealed class TlsCredentials
{
    private const string HostSuffix = ".secret.quicksilver.invalid";
    private const int DiscoveryKeyBytes = 32;

    private readonly ImmutableArray<(string Host, SslStreamCertificateContext Context)> _own;
    private readonly X509Certificate2Collection _roots;
    // By the hash of its authority's key: certificates of the same key differ, as signatures are random.
    private readonly Dictionary<string, Secret> _secrets = [];

    private TlsCredentials(
        ImmutableArray<(string, SslStreamCertificateContext)> own, X509Certificate2Collection roots, ImmutableArray<byte[]> discoveryKeys)
    {
        _own = own;
        _roots = roots;
        DiscoveryKeys = discoveryKeys;
    }

    /// <summary>Keys for what goes over the network before there is a stream, the own one first; none with certificates.</summary>
    public ImmutableArray<byte[]> DiscoveryKeys { get; }

    public bool IsOfSecret => _secrets.Count > 0;

    /// <summary>What the process shows is of this, in words.</summary>
    public string Origin => IsOfSecret ? "secret" : "authority";

    /// <summary>What a client says to whom it wants to speak: with secrets, which one it has.</summary>
    public string TargetHost => _own[0].Host;

    /// <summary>What the process shows when it connects.</summary>
    public SslStreamCertificateContext Own => _own[0].Context;

    /// <param name="secrets">The own one first; at least one.</param>
    public static TlsCredentials Of(IReadOnlyList<Secret> secrets)
    {
        var own = ImmutableArray.CreateBuilder<(string, SslStreamCertificateContext)>(secrets.Count);
        var roots = new X509Certificate2Collection();
        var known = new Dictionary<string, Secret>();
        foreach (var secret in secrets)
        {
            using var authority = SecretAuthority.Of(secret);
            var certificate = SecretAuthority.Issue(authority, secret.Name);
            own.Add((secret.Fingerprint + HostSuffix, SslStreamCertificateContext.Create(certificate, null, offline: true)));
            var root = X509CertificateLoader.LoadCertificate(authority.RawData);
            roots.Add(root);
            known[HashOf(root)] = secret;
        }

        var keys = secrets.Select(static secret => secret.Derive("discovery", DiscoveryKeyBytes));
        var credentials = new TlsCredentials(own.ToImmutable(), roots, [.. keys]);
        foreach (var (hash, secret) in known)
        {
            credentials._secrets.Add(hash, secret);
        }

        return credentials;
    }

    /// <param name="certificate">The process's own, with its key.</param>
    /// <param name="between">What lies between it and its authority, if anything.</param>
    /// <param name="authorities">Those whose certificates are accepted.</param>
    public static TlsCredentials Of(
        X509Certificate2 certificate, X509Certificate2Collection between, X509Certificate2Collection authorities)
    {
        var context = SslStreamCertificateContext.Create(certificate, between, offline: true);
        return new TlsCredentials([("certificate" + HostSuffix, context)], authorities, []);
    }

    /// <summary>The hash of the key of an authority.</summary>
    public static string HashOf(X509Certificate2 authority) =>
        Convert.ToHexStringLower(SHA256.HashData(authority.PublicKey.ExportSubjectPublicKeyInfo()));

    /// <summary>Whether an authority with this hash is trusted.</summary>
    public bool Believes(string hash) => _roots.Any(root => HashOf(root) == hash);

    /// <summary>What to show to a client that has said to whom it wants to speak.</summary>
    public SslStreamCertificateContext ContextFor(string? host)
    {
        foreach (var (known, context) in _own)
        {
            if (known == host)
            {
                return context;
            }
        }

        return Own;
    }

    /// <summary>Only the authorities named count: none of the system, nothing that is fetched, no list of what was revoked.</summary>
    public X509ChainPolicy NewPolicy()
    {
        var policy = new X509ChainPolicy
        {
            TrustMode = X509ChainTrustMode.CustomRootTrust,
            RevocationMode = X509RevocationMode.NoCheck,
            DisableCertificateDownloads = true,
        };
        policy.CustomTrustStore.AddRange(_roots);
        return policy;
    }

    /// <summary>The identity of the peer; false with why it is not accepted, as the end of a sentence.</summary>
    public bool TryIdentify(X509Certificate2? certificate, X509Chain? chain, PeerRole role, out PeerIdentity identity, out string fault)
    {
        identity = default;
        if (certificate is null || chain is null || chain.ChainElements.Count == 0)
        {
            fault = "presented no certificate";
            return false;
        }

        var root = chain.ChainElements[^1].Certificate;
        bool isRooted = _roots.Any(one => one.RawDataMemory.Span.SequenceEqual(root.RawDataMemory.Span));
        var status = chain.ChainStatus.Select(static one => one.Status).FirstOrDefault(static one => one != X509ChainStatusFlags.NoError);
        if (!isRooted)
        {
            fault = $"presented a certificate that is not of this {Origin}";
            return false;
        }

        if (!CertificateIssue.RolesOf(certificate).HasFlag(role))
        {
            fault = role == PeerRole.Service
                ? "presented a certificate that is not for a service (extended key usage serverAuth)"
                : "presented a certificate that is not for a node (extended key usage clientAuth)";
            return false;
        }

        if (status != X509ChainStatusFlags.NoError)
        {
            fault = status == X509ChainStatusFlags.NotTimeValid
                ? $"presented a certificate that holds from {certificate.NotBefore:u} to {certificate.NotAfter:u} and not now"
                : $"presented a certificate that is not valid ({status})";
            return false;
        }

        identity = _secrets.TryGetValue(HashOf(root), out var secret)
            ? new PeerIdentity(secret.Name, IsShared: true)
            : new PeerIdentity(certificate.GetNameInfo(X509NameType.SimpleName, forIssuer: false), IsShared: false);
        fault = identity.Name.Length == 0 ? "presented a certificate without a common name" : "";
        return identity.Name.Length > 0;
    }

    /// <summary>Why others do not accept the process's own certificate, as a part of a sentence; null: they may accept it.</summary>
    public string? FaultOfOwn(PeerRole role, DateTimeOffset now)
    {
        var own = Own.TargetCertificate;
        return !HoldsAt(now)
                ? $"it holds from {own.NotBefore.ToUniversalTime():u} to {own.NotAfter.ToUniversalTime():u}, and it is {now:u} here"
            : !CertificateIssue.RolesOf(own).HasFlag(role) ? $"it is not for a {(role == PeerRole.Service ? "service" : "node")}"
            : null;
    }

    /// <summary>Whether the dates of the process's own certificate include this moment.</summary>
    public bool HoldsAt(DateTimeOffset now)
    {
        var own = Own.TargetCertificate;
        return now >= own.NotBefore && now < own.NotAfter;
    }

    /// <summary>
    /// Whether the process would accept its own certificate, whatever its dates. If not, neither would others with the same authorities.
    /// </summary>
    public bool BelievesOwn()
    {
        using var chain = new X509Chain { ChainPolicy = NewPolicy() };
        chain.ChainPolicy.VerificationFlags = X509VerificationFlags.IgnoreNotTimeValid;
        foreach (var between in Own.IntermediateCertificates)
        {
            chain.ChainPolicy.ExtraStore.Add(between);
        }

        return chain.Build(Own.TargetCertificate);
    }

    public override string ToString() => $"{Origin} of {_roots.Count}";
}
