namespace QuickSilver.Tool.Doctor.Keys;

internal enum KeyKind
{
    // The options name none.
    None,
    // The options say by name that there is none.
    Unprotected,
    // A secret in an environment variable.
    Variable,
    Secret,
    Certificate,
}

// The key that the options of this host name, so that commands can name it too.
internal sealed record KeyFacts(KeyKind Kind)
{
    public static KeyFacts None { get; } = new(KeyKind.None);

    // Of the secret, or of the certificate.
    public string File { get; init; } = "";

    public string Authority { get; init; } = "";

    // The common name of the certificate.
    public string Name { get; init; } = "";

    // As `qsm keys certificate --role` takes it.
    public string Role { get; init; } = "node";

    // The key of the authority lies on this host, beside its certificate.
    public bool SignsHere { get; init; }

    // A service could show this key too.
    public bool CanServe => Kind != KeyKind.Certificate || Role != "node";
}

// A file that cannot be used as the options want it.
internal sealed record UnusableFile(string Path)
{
    public bool IsOfAuthority { get; init; }

    public bool Exists { get; init; }

    public bool IsFolder { get; init; }

    // The user who may not read it; null: the user of the doctor may.
    public string? ForbiddenTo { get; init; }
}
