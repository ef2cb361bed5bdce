using QuickSilver.Tool.Doctor.Keys;

namespace QuickSilver.Tool.Doctor.Checks;

// What protects a node with these options. Unprotected: the interface that is not loopback, on which nothing does; null: something does, or
// nothing need. Fault: why what the options name cannot be used. Identity: the name of the secret, or of the certificate.
// ReadByAll: the file of the secret or key, if every user of the machine may read it.
internal sealed record SecurityFacts(SecurityMode Mode, string? Unprotected, string? Fault, string? Identity, bool IsSecret)
{
    public string? ReadByAll { get; init; }

    public KeyFacts Keys { get; init; } = KeyFacts.None;

    // With Fault: the file that it is about; null: it is about none.
    public UnusableFile? Unusable { get; init; }
}

// Whether a node with these options starts on its interface, as whom, and what protects it.
internal static class SecurityCheck
{
    public const string Name = "security";

    private static readonly Remedy[] Ways =
    [
        new("qsm keys secret --out cluster.secret"),
        new("export QuickSilver__Security__SecretFile=cluster.secret", "every node"),
    ];

    public static Finding Of(SecurityFacts facts) => facts switch
    {
        { Unprotected: { } choice } => new Finding(
            Name,
            FindingStatus.Problem,
            $"A node without a key does not start on {choice}. Make a secret and copy it to all machines. Or run without protection, by "
            + "name: Security:Mode None, and --security none.",
            Ways),
        { Fault: { } fault } => Unusable(fault, KeyRemedies.Replace(facts.Keys, facts.Unusable)),
        { ReadByAll: { } file } => new Finding(
            Name,
            FindingStatus.Warning,
            $"Every user of this machine can read {file}, and so join the cluster as '{facts.Identity}'.",
            new Remedy($"chmod 600 {ShellWord.QuotedFile(file)}")),
        { Identity: { } identity } => Finding.Ok(
            Name,
            $"The node has the {(facts.IsSecret ? "secret" : "certificate")} '{identity}'. Connections are TLS, and packets are "
            + "encrypted."),
        { Mode: SecurityMode.None } => Finding.Ok(Name, "Nothing protects the cluster, as the options say by name."),
        _ => Finding.Ok(Name, "A node on the loopback interface needs no key."),
    };

    private static Finding Unusable(string fault, KeyAdvice advice) =>
        new(Name, FindingStatus.Problem, $"{fault}{advice.Text}", advice.Remedies);
}
