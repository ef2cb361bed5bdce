using System.CommandLine;
using QuickSilver.Core.Security.Identities;
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
        Description = $"With a certificate: the file with the trusted authorities. Also read from {AuthorityVariable}.",
        HelpName = "FILE",
    };

    public void AddTo(Command command)
    {
        command.Add(_security);
        command.Add(_authority);
    }

    /// <param name="parse">The command line.</param>
    /// <param name="isExamination">Whether the command itself judges a file that cannot be read.</param>
    public SecurityOptions Read(ParseResult parse, bool isExamination = false)
    {
        string? named = parse.GetValue(_security);
        string? given = named ?? Variable(PathVariable);
        // The option of the library has the word so.
        given = string.Equals(given, Nothing, StringComparison.OrdinalIgnoreCase) ? Nothing : given;
        string? authority = parse.GetValue(_authority);
        bool hasSecret = Variable(SecretVariable) is not null;
        if (named is null && given is not null && hasSecret)
        {
            throw new ToolException(
                ExitCode.Usage, $"{PathVariable} is {given}, but {SecretVariable} has a secret. Unset one of them, or give --security.");
        }

        if (given is not null and not Nothing && IsPem(given, authority, isExamination))
        {
            return new SecurityOptions
            {
                CertificateFile = given,
                AuthorityFile = authority ?? Variable(AuthorityVariable) ?? throw new ToolException(
                    ExitCode.Usage,
                    $"--security: {given} has a certificate, which needs the file with the trusted authorities. Give it with "
                    + $"--authority, or in {AuthorityVariable}."),
            };
        }

        if (authority is not null)
        {
            throw new ToolException(ExitCode.Usage, "--authority is for a certificate, and --security names none.");
        }

        return given switch
        {
            null => hasSecret ? new SecurityOptions { SecretVariable = SecretVariable } : new SecurityOptions(),
            Nothing => SecurityOptions.None,
            _ => new SecurityOptions { SecretFile = given },
        };
    }

    private static string? Variable(string name) =>
        System.Environment.GetEnvironmentVariable(name) is { Length: > 0 } value ? value : null;

    // Text may stand before a certificate.
    private static bool IsPem(string path, string? authority, bool isExamination)
    {
        try
        {
            return CredentialFiles.ReadText(path).Contains("-----BEGIN ", StringComparison.Ordinal);
        }
        catch (CredentialException) when (isExamination && !Secret.IsLike(path))
        {
            // A certificate was meant if an authority is named.
            return (authority ?? Variable(AuthorityVariable)) is not null;
        }
        catch (CredentialException exception)
        {
            throw new ToolException(ExitCode.Usage, $"--security: {exception.Message}", exception);
        }
    }
}
