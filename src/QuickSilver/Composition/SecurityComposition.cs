using Microsoft.Extensions.Logging;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport.Tls;

namespace QuickSilver.Composition;

// What a process shows and trusts, from its options.
internal static class SecurityComposition
{
    private const string Category = "QuickSilver.Security";

    /// <summary>Null: the process is not protected.</summary>
    /// <exception cref="QuickSilverOptionsException">What the options name cannot be used.</exception>
    public static IStreamCredentials? CredentialsOf(QuickSilverOptions node, ILoggerFactory logs)
    {
        var options = node.Security;
        if (node.Membership.Hosted is { RightsFile: not null } or { Rights: not null } && !options.HasKey)
        {
            throw new QuickSilverOptionsException(
                [$"The options {MembershipOptions.HostedKey} have rules of access, which are by identity. They require a secret "
                 + $"or a certificate ({nameof(QuickSilverOptions.Security)})."]);
        }

        if (FileReadByAll(options) is { } open)
        {
            CoreLog.SecretReadByAll(LogOf(logs), open);
        }

        try
        {
            return options switch
            {
                { HasKey: false } => null,
                { Secret: { } secret } => new FixedCredentials(CredentialFiles.OfSecrets(secret, "The secret of the program")),
                { SecretVariable: { } variable } => new FixedCredentials(OfVariable(variable)),
                { SecretFile: { } path } => Watched(() => OfSecretFile(path), [path], logs),
                { Certificate: { } certificate } =>
                    new FixedCredentials(TlsCredentials.Of(certificate, [], options.Authorities!)),
                _ => OfFiles(options, logs),
            };
        }
        catch (CredentialException unusable)
        {
            throw new QuickSilverOptionsException(unusable.Message, unusable);
        }
    }

    /// <summary>As <see cref="CredentialsOf"/>, for a process that is the membership service.</summary>
    /// <exception cref="QuickSilverOptionsException">What the options name cannot be used, or not for a service.</exception>
    public static IStreamCredentials? CredentialsOfService(QuickSilverOptions node, ILoggerFactory logs)
    {
        var credentials = CredentialsOf(node, logs);
        if (credentials is not null)
        {
            CheckOwn(credentials, PeerRole.Service, node.Security);
            WarnOfForeignOwn(credentials, node.Security, logs);
        }

        return credentials;
    }

    /// <summary>As <see cref="CredentialsOf"/>, for a process that is a node.</summary>
    /// <exception cref="QuickSilverOptionsException">What the options name cannot be used, or not for a node.</exception>
    public static IStreamCredentials? CredentialsOfNode(QuickSilverOptions node, ILoggerFactory logs)
    {
        var credentials = CredentialsOf(node, logs);
        if (credentials is null)
        {
            return null;
        }

        CheckOwn(credentials, PeerRole.Node, node.Security);
        WarnOfForeignOwn(credentials, node.Security, logs);
        if (node.Membership is { HasServers: false, Mode: MembershipMode.Host })
        {
            CheckOwn(credentials, PeerRole.Service, node.Security);
        }
        else if (node.Membership is { HasServers: false, Mode: not MembershipMode.Find }
            && FaultOf(credentials, PeerRole.Service) is { } fault)
        {
            CoreLog.HostsNoService(LogOf(logs), fault);
        }

        return credentials;
    }

    // A peer that refuses the certificate would report less than this check does.
    private static void CheckOwn(IStreamCredentials credentials, PeerRole role, SecurityOptions options)
    {
        if (FaultOf(credentials, role) is not { } fault)
        {
            return;
        }

        string which = options.CertificateFile is { } file
            ? $"The option {Key(nameof(options.CertificateFile))} cannot be used: the certificate of {file} is refused by all others, as"
            : $"The certificate that the program gives to {nameof(SecurityOptions.UseCertificate)} cannot be used:";
        string whatToDo = credentials.Latest.HoldsAt(TimeProvider.System.GetUtcNow())
            ? $"Issue one with 'qsm keys certificate --role {(role == PeerRole.Service ? "service" : "node")}', or --role both."
            : "Issue another one with 'qsm keys certificate', or set the clock of this machine if it is wrong.";
        throw new QuickSilverOptionsException([$"{which} {fault}. {whatToDo}"]);
    }

    // Others may have other authorities, as while one is replaced, so this is no reason not to start.
    private static void WarnOfForeignOwn(IStreamCredentials credentials, SecurityOptions options, ILoggerFactory logs)
    {
        if (!credentials.Latest.BelievesOwn())
        {
            CoreLog.OwnNotBelieved(
                LogOf(logs), options.CertificateFile ?? "of the program", options.AuthorityFile ?? "that the program gives");
        }
    }

    /// <summary>Why peers do not accept what the process shows; null: they may accept it.</summary>
    public static string? FaultOf(IStreamCredentials credentials, PeerRole role) =>
        credentials.Latest.FaultOfOwn(role, TimeProvider.System.GetUtcNow());

    /// <summary>The file of the secret, or of the certificate's key, if every user of the machine may read it; else null.</summary>
    public static string? FileReadByAll(SecurityOptions options) =>
        (options.SecretFile ?? options.CertificateKeyFile ?? options.CertificateFile) is { } path
            && !Secret.IsLike(path) && CredentialFiles.IsReadByAll(path)
            ? path
            : null;

    /// <summary>The log for files of secrets or certificates that were read again.</summary>
    public static ILogger LogOf(ILoggerFactory logs) => logs.CreateLogger(Category);

    private static TlsCredentials OfVariable(string variable)
    {
        const string Option = nameof(SecurityOptions.SecretVariable);
        if (Secret.IsLike(variable))
        {
            throw Unusable(Option, "a secret was given where the name of a variable is expected. It is not shown here.");
        }

        string? text = System.Environment.GetEnvironmentVariable(variable);
        return text is not null
            ? Named(Option, () => CredentialFiles.OfSecrets(text, $"the environment variable {variable}"))
            : throw Unusable(Option, $"there is no environment variable {variable}. Correct the name, or set it for this process.");
    }

    private static TlsCredentials OfSecretFile(string path) =>
        Named(nameof(SecurityOptions.SecretFile), () => CredentialFiles.OfSecretFile(path));

    private static WatchedCredentials OfFiles(SecurityOptions options, ILoggerFactory logs)
    {
        string certificate = options.CertificateFile!;
        string? key = options.CertificateKeyFile;
        string authority = options.AuthorityFile!;
        string[] paths = key is null ? [certificate, authority] : [certificate, key, authority];
        return Watched(Read, paths, logs);

        TlsCredentials Read()
        {
            var authorities = Named(nameof(options.AuthorityFile), () => CredentialFiles.ReadAuthorities(authority));
            var (own, between) = Named(nameof(options.CertificateFile), () => CredentialFiles.ReadCertificate(certificate, key));
            return TlsCredentials.Of(own, between, authorities);
        }
    }

    // A failure names the option, also when files are read again.
    private static T Named<T>(string option, Func<T> read)
    {
        try
        {
            return read();
        }
        catch (CredentialException unusable)
        {
            throw Unusable(option, unusable.Message, unusable);
        }
    }

    private static CredentialException Unusable(string option, string why, Exception? inner = null) =>
        new($"The option {Key(option)} cannot be used: {why}", inner);

    private static WatchedCredentials Watched(Func<TlsCredentials> read, string[] paths, ILoggerFactory logs)
    {
        var log = LogOf(logs);
        return new WatchedCredentials(
            read, paths, TimeProvider.System, (what, isGood) => CoreLog.CredentialsLookedAt(log, what, isGood));
    }

    private static string Key(string option) => $"{nameof(QuickSilverOptions.Security)}:{option}";
}
