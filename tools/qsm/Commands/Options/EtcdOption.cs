using System.CommandLine;
using QuickSilver.Tool.Etcd;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands.Options;

// Where etcd is, and with what this process proves itself there.
internal sealed class EtcdOption(string members)
{
    private const string CertificateVariable = "QS_ETCD_CERTIFICATE";
    private const string AuthorityVariable = "QS_ETCD_AUTHORITY";

    private readonly Option<string?> _certificate = new("--etcd-certificate")
    {
        Description = "With --etcd and https: the file with the certificate that etcd is shown, and its key (PEM). Also read from "
            + $"{CertificateVariable}.",
        HelpName = "FILE",
    };

    private readonly Option<string?> _authority = new("--etcd-authority")
    {
        Description = "With --etcd and https: the file with the trusted authorities of etcd (PEM), instead of those of the "
            + $"system. Also read from {AuthorityVariable}.",
        HelpName = "FILE",
    };

    public Option<string?> Members { get; } = new("--etcd") { Description = members, HelpName = "URL" };

    public void AddTo(Command command)
    {
        command.Add(Members);
        command.Add(_certificate);
        command.Add(_authority);
        Bounds.Require(command, _certificate, Members);
        Bounds.Require(command, _authority, Members);
    }

    /// <summary>Null: there is no etcd.</summary>
    public EtcdAccess? Read(ParseResult parse)
    {
        if (parse.GetValue(Members) is not { } text)
        {
            return null;
        }

        var access = new EtcdAccess(ReadMembers(text))
        {
            Certificate = File(parse, _certificate, CertificateVariable),
            Authority = File(parse, _authority, AuthorityVariable),
        };
        var plain = access.Members.FirstOrDefault(static member => member.Scheme != Uri.UriSchemeHttps);
        return (access.Certificate ?? access.Authority, plain) is ({ } file, not null)
            ? throw new ToolException(
                ExitCode.Usage,
                $"{file.Source}: {file.Path} is given, but {plain} is without TLS. Use https in all URLs of --etcd, or leave the file out.")
            : access;
    }

    private static EtcdFile? File(ParseResult parse, Option<string?> option, string variable) =>
        parse.GetValue(option) is { } given ? new EtcdFile(given, option.Name)
        : System.Environment.GetEnvironmentVariable(variable) is { Length: > 0 } path ? new EtcdFile(path, variable)
        : null;

    private static Uri[] ReadMembers(string text) => [.. text.Split(',').Select(static member =>
        Uri.TryCreate(member.TrimEnd('/') + '/', UriKind.Absolute, out var uri) && (uri.Scheme is "http" or "https")
            ? uri.UserInfo.Length == 0
                ? uri
                : throw new ToolException(
                    ExitCode.Usage, $"--etcd: the URL of {uri.Authority} has a name or a password, which is not used. Leave it out.")
            : throw new ToolException(ExitCode.Usage, $"--etcd: '{member}' is not a URL, such as https://10.0.0.1:2379."))];
}
