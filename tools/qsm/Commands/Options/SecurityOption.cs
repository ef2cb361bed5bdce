using System.CommandLine;
using QuickSilver.Core.Transport.Tls;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands.Options;

// What a command shows to the cluster. Never the secret itself: everybody on the machine can read command lines.
internal sealed class SecurityOption
{
    private const string Nothing = "none";
    private const string PathVariable = "QS_SECURITY";
    private const string SecretVariable = "QS_SECRET";
    private const string AuthorityVariable = "QS_AUTHORITY";

    private readonly Option<string?> _security = new("--security")
    {
        Description = "The file with the secret of the cluster, or with a certificate and its key (PEM); none: without security. Required "
            + $"beyond the loopback interface. Also read from {PathVariable}. {SecretVariable} can contain the secret itself.",
        HelpName = "FILE|none",
    };

    private readonly Option<string?> _authority = new("--authority")
    {
        Description = $"With a certificate: the file with the authorities that are believed. Also read from {AuthorityVariable}.",
        HelpName = "FILE",
    };

    public void AddTo(Command command)
    {
        command.Add(_security);
        command.Add(_authority);
    }

    public SecurityOptions Read(ParseResult parse)
    {
        string? given = parse.GetValue(_security) ?? Variable(PathVariable);
        string? authority = parse.GetValue(_authority) ?? Variable(AuthorityVariable);
        return given switch
        {
            null => Variable(SecretVariable) is null ? new SecurityOptions() : new SecurityOptions { SecretVariable = SecretVariable },
            Nothing => SecurityOptions.None,
            _ when IsPem(given) => new SecurityOptions { CertificateFile = given, AuthorityFile = authority },
            _ => new SecurityOptions { SecretFile = given },
        };
    }

    private static string? Variable(string name) =>
        System.Environment.GetEnvironmentVariable(name) is { Length: > 0 } value ? value : null;

    // Text may stand before a certificate.
    private static bool IsPem(string path)
    {
        try
        {
            return CredentialFiles.ReadText(path).Contains("-----BEGIN ", StringComparison.Ordinal);
        }
        catch (CredentialException exception)
        {
            throw new ToolException(ExitCode.Usage, $"--security: {exception.Message}", exception);
        }
    }
}
