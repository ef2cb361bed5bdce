using System.CommandLine;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands.Keys;

// A certificate of a node or a service, signed by an authority.
internal static class CertificateCommand
{
    private const int UsualDays = 365;
    // Of a common name (RFC 5280, appendix A.1).
    private const int MostNameCharacters = 64;

    private enum Role
    {
        Node = PeerRole.Node,
        Service = PeerRole.Service,
        Both = PeerRole.Node | PeerRole.Service,
    }

    public static Command Create()
    {
        var authority = new Option<string>("--authority")
        {
            Description = "The file with the certificate of the authority (PEM). Its key is in the file of the same name with .key.",
            HelpName = "FILE",
            Required = true,
        };
        var name = new Option<string>("--name")
        {
            Description = "The common name, which is the identity of the node.",
            HelpName = "NAME",
            Required = true,
        };
        name.Validators.Add(static result =>
        {
            string text = result.Tokens[^1].Value;
            if (text.Trim().Length is < 1 or > MostNameCharacters || text.Any(char.IsControl))
            {
                result.AddError($"--name: a name has 1 to {MostNameCharacters} characters, and no control characters.");
            }
        });
        var role = new Option<Role>("--role")
        {
            Description = "What it is for: a node, a membership service, or a node that may host the service (both).",
            HelpName = "node|service|both",
            DefaultValueFactory = _ => Role.Node,
        }.Named();
        var to = new Option<string?>("--out")
        {
            Description = "The file for the certificate and its key (PEM), which only this user can read. By default, the name with .pem.",
            HelpName = "FILE",
        };
        var days = KeysCommand.Days(UsualDays);
        var force = KeysCommand.Force();
        var command = new Command("certificate", "Make a certificate with its key.") { authority, name, role, to, days, force };
        command.SetAction(parse => KeyFile.Run(() =>
        {
            string from = parse.GetValue(authority)!;
            string path = parse.GetValue(to) ?? parse.GetValue(name)! + ".pem";
            using var signer = Read(from);
            using var certificate = Sign(signer, from, parse.GetValue(name)!, (PeerRole)parse.GetValue(role), parse.GetValue(days));
            using var key = certificate.GetECDsaPrivateKey()!;
            string text = $"{certificate.ExportCertificatePem()}\n{key.ExportPkcs8PrivateKeyPem()}\n";
            KeyFile.Write(path, text, parse.GetValue(force));
            Terminal.Note($"wrote {path}");
            return ExitCode.Ok;
        }));
        return command;
    }

    // It holds no longer than its authority does, and not before.
    private static X509Certificate2 Sign(X509Certificate2 signer, string path, string name, PeerRole role, int days)
    {
        var now = DateTimeOffset.UtcNow;
        if (now >= signer.NotAfter || now < signer.NotBefore)
        {
            throw new ToolException(
                ExitCode.Failed,
                $"--authority: {path} holds from {signer.NotBefore:u} to {signer.NotAfter:u} and not now. Make another one.");
        }

        var from = now.AddHours(-1);
        var until = now.AddDays(days);
        try
        {
            return CertificateIssue.Of(
                signer, name, role, from < signer.NotBefore ? signer.NotBefore : from, until > signer.NotAfter ? signer.NotAfter : until);
        }
        catch (Exception exception) when (exception is ArgumentException or InvalidOperationException or CryptographicException)
        {
            throw new ToolException(ExitCode.Failed, $"--authority: {path} cannot sign: {exception.Message}", exception);
        }
    }

    private static X509Certificate2 Read(string path)
    {
        try
        {
            return X509Certificate2.CreateFromPemFile(path, AuthorityCommand.KeyPath(path));
        }
        catch (Exception exception) when (exception is CryptographicException or IOException or UnauthorizedAccessException)
        {
            throw new ToolException(
                ExitCode.Failed,
                $"--authority: {path} with the key {AuthorityCommand.KeyPath(path)} cannot be read: {exception.Message}",
                exception);
        }
    }
}
