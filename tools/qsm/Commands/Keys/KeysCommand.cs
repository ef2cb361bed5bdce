using System.CommandLine;

namespace QuickSilver.Tool.Commands.Keys;

// Secrets and certificates for a cluster. These commands need no cluster.
internal static class KeysCommand
{
    public static Command Create() => new(
        "keys", "Make and show secrets and certificates, with which nodes prove that they belong to a cluster.")
    {
        SecretCommand.Create(),
        AuthorityCommand.Create(),
        CertificateCommand.Create(),
        ShowCommand.Create(),
    };

    public static Option<bool> Force() => new("--force") { Description = "Replace files that exist." };

    public static Option<int> Days(int usual) => new Option<int>("--days")
    {
        Description = "The days for which the certificate is valid.",
        HelpName = "N",
        DefaultValueFactory = _ => usual,
    }.Within(1, 36_500);
}
