namespace QuickSilver;

// Which options of security go together.
internal static class SecurityRules
{
    private const string Group = nameof(QuickSilverOptions.Security);

    /// <param name="options">The options.</param>
    /// <param name="failures">Takes what is wrong.</param>
    /// <param name="add">Adds an option, its value and what is allowed.</param>
    public static void Check(SecurityOptions? options, List<string> failures, Action<List<string>, string, object?, string> add)
    {
        if (options is null)
        {
            add(failures, Group, null, $"an object of type {nameof(SecurityOptions)}");
            return;
        }

        if (!Enum.IsDefined(options.Mode))
        {
            add(failures, Key(nameof(options.Mode)), (int)options.Mode, "Auto or None");
        }
        else if (options is { Mode: SecurityMode.None, HasKey: true })
        {
            add(failures, Key(nameof(options.Mode)), options.Mode, "Auto with a secret or a certificate, or None without");
        }

        CheckPath(nameof(options.SecretFile), options.SecretFile, failures, add);
        CheckPath(nameof(options.SecretVariable), options.SecretVariable, failures, add);
        CheckPath(nameof(options.CertificateFile), options.CertificateFile, failures, add);
        CheckPath(nameof(options.CertificateKeyFile), options.CertificateKeyFile, failures, add);
        CheckPath(nameof(options.AuthorityFile), options.AuthorityFile, failures, add);
        if (options is { SecretFile: { } file, SecretVariable: not null })
        {
            add(failures, Key(nameof(options.SecretFile)), file, $"null with {Key(nameof(options.SecretVariable))}");
        }

        if (options is { HasSecret: true, HasCertificate: true })
        {
            string given = options.CertificateFile ?? "given by the program";
            add(failures, Key(nameof(options.CertificateFile)), given, "null with a secret, which takes its place");
        }

        if (options is { CertificateFile: not null, AuthorityFile: null })
        {
            add(failures, Key(nameof(options.AuthorityFile)), null, $"a file with {Key(nameof(options.CertificateFile))}");
        }

        CheckUse(nameof(options.AuthorityFile), options.AuthorityFile, options, failures, add);
        CheckUse(nameof(options.CertificateKeyFile), options.CertificateKeyFile, options, failures, add);
    }

    public static void CheckRights(QuickSilverOptions options, List<string> failures, Action<List<string>, string, object?, string> add)
    {
        const string Rights = $"{MembershipOptions.HostedKey}:{nameof(EmbeddedServiceOptions.RightsFile)}";
        if (options.Membership?.Hosted is { RightsFile: { } file, Rights: not null })
        {
            add(failures, Rights, file, "null with rules of the program");
        }
    }

    private static void CheckPath(
        string option, string? value, List<string> failures, Action<List<string>, string, object?, string> add)
    {
        if (value is not null && string.IsNullOrWhiteSpace(value))
        {
            add(failures, Key(option), "empty", "a name, or null");
        }
    }

    private static void CheckUse(
        string option,
        string? value,
        SecurityOptions options,
        List<string> failures,
        Action<List<string>, string, object?, string> add)
    {
        if (value is not null && options.CertificateFile is null)
        {
            add(failures, Key(option), value, $"null without {Key(nameof(options.CertificateFile))}");
        }
    }

    private static string Key(string option) => $"{Group}:{option}";
}
