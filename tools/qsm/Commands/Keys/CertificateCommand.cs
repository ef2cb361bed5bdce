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
        var hosts = new Option<string[]>("--host")
        {
            Description = "A host name or an address that the certificate is for. QuickSilver does not compare them; other programs do, "
                + "such as those that connect to etcd. Repeat it for several.",
            HelpName = "HOST",
            DefaultValueFactory = static _ => [],
        };
        hosts.Validators.Add(static result =>
        {
            if (result.Tokens.FirstOrDefault(static one => Uri.CheckHostName(one.Value) == UriHostNameType.Unknown) is { } wrong)
            {
                result.AddError($"--host: '{wrong.Value}' is not a host name or an address.");
            }
        });
        var to = new Option<string?>("--out")
        {
            Description = "The file for the certificate and its key (PEM), which only this user can read. By default, the name with .pem.",
            HelpName = "FILE",
        };
        var days = KeysCommand.Days(UsualDays);
        var force = KeysCommand.Force();
        var command = new Command("certificate", "Make a certificate with its key.") { authority, name, role, hosts, to, days, force };
        command.SetAction(parse => KeyFile.Run(() =>
        {
            string from = parse.GetValue(authority)!;
            string ownName = parse.GetValue(name)!;
            if (parse.GetValue(to) is null && ownName.AsSpan().IndexOfAny('/', '\\') >= 0)
            {
                throw new ToolException(ExitCode.Usage, $"--out: give a file, as the name '{ownName}' cannot be that of one.");
            }

            string path = parse.GetValue(to) ?? ownName + ".pem";
            CheckPlace(path, from);
            using var signer = Read(from);
            using var certificate = Sign(signer, from, parse.GetValue(days), (on, until) => CertificateIssue.Of(
                signer, parse.GetValue(name)!, (PeerRole)parse.GetValue(role), on, until, parse.GetValue(hosts) ?? []));
            using var key = certificate.GetECDsaPrivateKey()!;
            string text = $"{certificate.ExportCertificatePem()}\n{key.ExportPkcs8PrivateKeyPem()}\n";
            KeyFile.Write(path, text, parse.GetValue(force));
            Terminal.Note($"wrote {path}");
            return ExitCode.Ok;
        }));
        return command;
    }

    private static void CheckPlace(string path, string authority)
    {
        string whole = Path.GetFullPath(path);
        if (whole == Path.GetFullPath(authority) || whole == Path.GetFullPath(AuthorityCommand.KeyPath(authority)))
        {
            throw new ToolException(ExitCode.Usage, $"--out: {path} is the authority, which the certificate would replace.");
        }
    }

    // It holds no longer than its authority does, and not before.
    private static X509Certificate2 Sign(
        X509Certificate2 signer, string path, int days, Func<DateTimeOffset, DateTimeOffset, X509Certificate2> issue)
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
            return issue(from < signer.NotBefore ? signer.NotBefore : from, until > signer.NotAfter ? signer.NotAfter : until);
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
