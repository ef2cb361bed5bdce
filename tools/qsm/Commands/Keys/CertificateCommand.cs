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
        var role = new Option<Role>("--role")
        {
            Description = "What it is for: a node, a membership service, or a node that may host the service (both).",
            HelpName = "node|service|both",
            DefaultValueFactory = _ => Role.Node,
        };
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
            var now = DateTimeOffset.UtcNow;
            var until = now.AddDays(parse.GetValue(days));
            if (until > signer.NotAfter)
            {
                until = signer.NotAfter;
            }

            using var certificate = CertificateIssue.Of(
                signer, parse.GetValue(name)!, (PeerRole)parse.GetValue(role), now.AddHours(-1), until);
            using var key = certificate.GetECDsaPrivateKey()!;
            string text = $"{certificate.ExportCertificatePem()}\n{key.ExportPkcs8PrivateKeyPem()}\n";
            KeyFile.Write(path, text, parse.GetValue(force));
            Terminal.Note($"wrote {path}");
            return ExitCode.Ok;
        }));
        return command;
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
