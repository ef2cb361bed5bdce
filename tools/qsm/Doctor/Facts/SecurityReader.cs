using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using QuickSilver.Composition;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport.Tls;
using QuickSilver.Tool.Commands.Keys;
using QuickSilver.Tool.Doctor.Checks;
using QuickSilver.Tool.Doctor.Keys;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Doctor.Facts;

// What the options say of secrets and certificates, and the dates of those in files. Nothing of a secret but its name leaves it.
internal static class SecurityReader
{
    /// <param name="session">Of the command.</param>
    /// <param name="choice">The interface; null: there is none.</param>
    public static (SecurityFacts Facts, IReadOnlyList<CertificateDates> Certificates) Read(Session session, InterfaceChoice? choice)
    {
        var options = session.Options.Security;
        string? unprotected = choice is not null && LoopbackRule.Refuses(options, choice.Address) ? choice.ToString() : null;
        try
        {
            var credentials = SecurityComposition.CredentialsOf(session.Options, session.Logs)?.Latest;
            string? identity = credentials?.Own.TargetCertificate.GetNameInfo(X509NameType.SimpleName, forIssuer: false);
            var facts = new SecurityFacts(options.Mode, unprotected, Fault: null, identity, credentials is { IsOfSecret: true })
            {
                ReadByAll = SecurityComposition.FileReadByAll(options),
            };
            return (facts, credentials is { IsOfSecret: false } ? DatesOf(credentials, options) : []);
        }
        catch (QuickSilverOptionsException unusable)
        {
            var facts = new SecurityFacts(options.Mode, unprotected, unusable.Message, Identity: null, IsSecret: false)
            {
                Keys = KeysOf(options),
                Unusable = UnusableOf(options),
            };
            return (facts, []);
        }
    }

    /// <summary>What commands need to know of the key, as far as it can be read.</summary>
    public static KeyFacts KeysOf(SecurityOptions options)
    {
        if (options is not { CertificateFile: { } file, AuthorityFile: { } authority })
        {
            return options.SecretFile is { } secret ? new KeyFacts(KeyKind.Secret) { File = secret }
                : options.SecretVariable is not null ? new KeyFacts(KeyKind.Variable)
                : options.Mode == SecurityMode.None ? new KeyFacts(KeyKind.Unprotected)
                : KeyFacts.None;
        }

        var keys = new KeyFacts(KeyKind.Certificate)
        {
            File = file,
            Authority = authority,
            Name = Path.GetFileNameWithoutExtension(file),
            SignsHere = File.Exists(AuthorityCommand.KeyPath(authority)),
        };
        try
        {
            using var own = CredentialFiles.ReadCertificate(file, options.CertificateKeyFile).Own;
            return keys with { Name = own.GetNameInfo(X509NameType.SimpleName, forIssuer: false), Role = RoleOf(own) };
        }
        catch (CredentialException)
        {
            return keys;
        }
    }

    // Of a certificate and its authority, the first one that cannot be read.
    private static UnusableFile? UnusableOf(SecurityOptions options)
    {
        if ((options.SecretFile ?? options.CertificateFile) is not { } file)
        {
            return null;
        }

        bool isOfAuthority = false;
        try
        {
            if (options.CertificateFile is not null)
            {
                _ = CredentialFiles.ReadCertificate(file, options.CertificateKeyFile);
                isOfAuthority = true;
            }
        }
        catch (CredentialException)
        {
            // The certificate it is.
        }

        string path = isOfAuthority ? options.AuthorityFile! : file;
        return new UnusableFile(path)
        {
            IsOfAuthority = isOfAuthority,
            Exists = File.Exists(path),
            IsFolder = Directory.Exists(path),
            ForbiddenTo = MayRead(path) ? null : Environment.UserName,
        };
    }

    private static bool MayRead(string path)
    {
        try
        {
            using var file = File.OpenRead(path);
            return true;
        }
        catch (UnauthorizedAccessException)
        {
            return Directory.Exists(path);
        }
        catch (IOException)
        {
            return true;
        }
    }

    /// <summary>The roles of a certificate, as <c>qsm keys certificate --role</c> takes them.</summary>
    public static string RoleOf(X509Certificate2 certificate) => CertificateIssue.RolesOf(certificate) switch
    {
        PeerRole.Service => "service",
        PeerRole.Service | PeerRole.Node => "both",
        _ => "node",
    };

    private static List<CertificateDates> DatesOf(TlsCredentials credentials, SecurityOptions options)
    {
        var own = credentials.Own.TargetCertificate;
        var dates = new List<CertificateDates>
        {
            Of(own, CertificateUse.Own) with { File = options.CertificateFile, Role = RoleOf(own) },
        };
        var authorities = new X509Certificate2Collection();
        try
        {
            authorities.ImportFromPemFile(options.AuthorityFile!);
        }
        catch (Exception exception) when (exception is CryptographicException or IOException or UnauthorizedAccessException)
        {
            // It was read a moment ago, and is replaced at this one.
            return dates;
        }

        dates.AddRange(authorities.Select(authority => Of(authority, CertificateUse.Authority) with { File = options.AuthorityFile }));
        return dates;
    }

    public static CertificateDates Of(X509Certificate2 certificate, CertificateUse use) => new(
        certificate.GetNameInfo(X509NameType.SimpleName, forIssuer: false), use, certificate.NotBefore, certificate.NotAfter);
}
