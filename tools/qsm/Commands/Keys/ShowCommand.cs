using System.CommandLine;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport.Tls;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands.Keys;

// What is in a file, without what must not be shown.
internal static class ShowCommand
{
    private const string PemMark = "-----BEGIN";

    public static Command Create()
    {
        var file = new Argument<string>("FILE") { Description = "A file with secrets, or with certificates (PEM)." };
        const string Purpose = "Show the names, dates and fingerprints of secrets and certificates. Never shows a secret.";
        var command = new Command("show", Purpose) { file };
        command.SetAction(parse => KeyFile.Run(() =>
        {
            string path = parse.GetValue(file)!;
            try
            {
                string text = CredentialFiles.ReadText(path);
                Terminal.Table(text.Contains(PemMark, StringComparison.Ordinal) ? OfCertificates(text) : OfSecrets(text, path));
            }
            catch (Exception exception) when (exception is CredentialException or CryptographicException)
            {
                throw new ToolException(ExitCode.Failed, exception.Message, exception);
            }

            return ExitCode.Ok;
        }));
        return command;
    }

    private static List<(string Name, string Value)> OfSecrets(string text, string path)
    {
        var rows = new List<(string, string)>();
        foreach (var secret in CredentialFiles.SecretsOf(text, path))
        {
            rows.Add(("secret", secret.Name));
            rows.Add(("fingerprint", secret.Fingerprint));
        }

        return rows;
    }

    private static List<(string Name, string Value)> OfCertificates(string pem)
    {
        var all = new X509Certificate2Collection();
        all.ImportFromPem(pem);
        var rows = new List<(string, string)>();
        foreach (var certificate in all)
        {
            rows.Add(("name", certificate.GetNameInfo(X509NameType.SimpleName, forIssuer: false)));
            rows.Add(("issuer", certificate.GetNameInfo(X509NameType.SimpleName, forIssuer: true)));
            rows.Add(("for", InWords(certificate)));
            rows.Add(("valid from", $"{certificate.NotBefore.ToUniversalTime():u}"));
            rows.Add(("valid until", $"{certificate.NotAfter.ToUniversalTime():u}"));
            rows.Add(("fingerprint", certificate.GetCertHashString(HashAlgorithmName.SHA256).ToLowerInvariant()));
        }

        return rows;
    }

    private static string InWords(X509Certificate2 certificate) => CertificateIssue.RolesOf(certificate) switch
    {
        PeerRole.Node => "node",
        PeerRole.Service => "service",
        PeerRole.Node | PeerRole.Service => "node and service",
        _ when certificate.Extensions.OfType<X509BasicConstraintsExtension>().Any(static one => one.CertificateAuthority) => "authority",
        _ => "neither node nor service",
    };
}
