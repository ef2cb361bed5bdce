using System.CommandLine;
using System.Security.Cryptography;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands.Keys;

// A certificate authority of a cluster's own.
internal static class AuthorityCommand
{
    private const int UsualDays = 3650;

    public static Command Create()
    {
        var name = new Option<string>("--name")
        {
            Description = "The common name of the authority.",
            HelpName = "NAME",
            DefaultValueFactory = _ => "QuickSilver authority",
        };
        var to = new Option<string>("--out")
        {
            Description = "The file for the certificate (PEM). Its private key goes to the same name with .key; keep that apart from "
                + "nodes.",
            HelpName = "FILE",
            DefaultValueFactory = _ => "authority.pem",
        };
        var days = KeysCommand.Days(UsualDays);
        var replace = KeysCommand.Force();
        const string Purpose = "Make an authority, which signs the certificates of nodes and services.";
        var command = new Command("authority", Purpose) { name, to, days, replace };
        command.SetAction(parse => KeyFile.Run(() =>
        {
            string path = parse.GetValue(to)!;
            bool force = parse.GetValue(replace);
            if (KeyPath(path) == path)
            {
                throw new ToolException(ExitCode.Usage, $"--out: {path} is where the key goes. Give the certificate another name, such as "
                    + $"{Path.ChangeExtension(path, ".pem")}.");
            }

            // Both before either is written: a certificate without its key is of no use.
            KeyFile.CheckAbsent(KeyPath(path), force);
            KeyFile.CheckAbsent(path, force);
            using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
            var now = DateTimeOffset.UtcNow;
            using var authority = CertificateIssue.Authority(
                key, CertificateIssue.Named(parse.GetValue(name)!), now.AddHours(-1), now.AddDays(parse.GetValue(days)));
            KeyFile.Write(KeyPath(path), key.ExportPkcs8PrivateKeyPem() + "\n", force);
            KeyFile.Write(path, authority.ExportCertificatePem() + "\n", force);
            Terminal.Note($"wrote {path} and {KeyPath(path)}");
            return ExitCode.Ok;
        }));
        return command;
    }

    public static string KeyPath(string certificate) => Path.ChangeExtension(certificate, ".key");
}
