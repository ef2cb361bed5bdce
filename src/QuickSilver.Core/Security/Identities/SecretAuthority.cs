using System.Numerics;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace QuickSilver.Core.Security.Identities;

// The certificate authority that follows from a secret: a process with the secret has its key, signs a certificate for itself, and accepts
// those that others have signed so. So TLS is the same for secrets and for certificates.
//
// The key is a number below the order of P-256, from 128 bits more than that has, so that it is as good as drawn evenly (FIPS 186-5,
// A.2.1). Its certificates hold from the first to the last moment that a certificate can name in its usual form (RFC 5280, 4.1.2.5): a
// process with the secret could sign another one at any time, and a wrong clock locks none out, such as that of a device that starts in
// 1970.
internal static class SecretAuthority
{
    private const int ScalarBytes = 32;
    private static readonly BigInteger Order = BigInteger.Parse(
        "0ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551", System.Globalization.NumberStyles.HexNumber);

    private static readonly DateTimeOffset From = new(1950, 1, 1, 0, 0, 0, TimeSpan.Zero);
    private static readonly DateTimeOffset Until = new(9999, 12, 31, 23, 59, 59, TimeSpan.Zero);

    /// <summary>The authority, with its key.</summary>
    public static X509Certificate2 Of(Secret secret)
    {
        byte[] random = secret.Derive("authority", ScalarBytes + 16);
        var scalar = (new BigInteger(random, isUnsigned: true, isBigEndian: true) % (Order - 1)) + 1;
        byte[] key = new byte[ScalarBytes];
        byte[] digits = scalar.ToByteArray(isUnsigned: true, isBigEndian: true);
        digits.CopyTo(key, ScalarBytes - digits.Length);
        using var signer = ECDsa.Create(new ECParameters { Curve = ECCurve.NamedCurves.nistP256, D = key });
        CryptographicOperations.ZeroMemory(random);
        CryptographicOperations.ZeroMemory(key);
        CryptographicOperations.ZeroMemory(digits);
        var name = CertificateIssue.Named(secret.Name, $"QuickSilver secret {secret.Fingerprint}");
        return CertificateIssue.Authority(signer, name, From, Until);
    }

    /// <summary>A certificate of this process, for both roles.</summary>
    public static X509Certificate2 Issue(X509Certificate2 authority, string name) =>
        CertificateIssue.Of(authority, name, PeerRole.Node | PeerRole.Service, From, Until);
}
