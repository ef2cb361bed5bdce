using Microsoft.Extensions.Logging;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport.Tls;

namespace QuickSilver.Composition;

// What a process shows and believes, from its options.
internal static class SecurityComposition
{
    private const string Category = "QuickSilver.Security";

    /// <summary>Null: the process is not protected.</summary>
    /// <exception cref="QuickSilverOptionsException">What the options name cannot be used.</exception>
    public static IStreamCredentials? CredentialsOf(QuickSilverOptions node, ILoggerFactory logs)
    {
        var options = node.Security;
        if (node.Service is { RightsFile: not null } or { Rights: not null } && !options.HasKey)
        {
            throw new QuickSilverOptionsException(
                [$"The options {nameof(QuickSilverOptions.Service)} have rules of access, which are by identity. They require a secret "
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
                { Secret: { } secret } => new FixedCredentials(CredentialFiles.OfSecrets(secret, "the secret of the program")),
                { SecretVariable: { } variable } => new FixedCredentials(OfVariable(variable)),
                { SecretFile: { } path } => Watched(() => CredentialFiles.OfSecretFile(path), [path], logs),
                { Certificate: { } certificate } =>
                    new FixedCredentials(TlsCredentials.Of(certificate, [], options.Authorities!)),
                _ => OfFiles(options, logs),
            };
        }
        catch (CredentialException unusable)
        {
            throw new QuickSilverOptionsException(
                $"The options {nameof(QuickSilverOptions.Security)} cannot be used: {unusable.Message}", unusable);
        }
    }

    /// <summary>As <see cref="CredentialsOf"/>, for a process that is the membership service.</summary>
    /// <exception cref="QuickSilverOptionsException">What the options name cannot be used, or not for a service.</exception>
    public static IStreamCredentials? CredentialsOfService(QuickSilverOptions node, ILoggerFactory logs)
    {
        var credentials = CredentialsOf(node, logs);
        if (credentials is not null)
        {
            CheckOwn(credentials, PeerRole.Service);
        }

        return credentials;
    }

    /// <summary>Whose certificate nobody believes would be told less by those who refuse it.</summary>
    /// <exception cref="QuickSilverOptionsException">It is out of date, or not for this role.</exception>
    public static void CheckOwn(IStreamCredentials credentials, PeerRole role)
    {
        if (FaultOf(credentials, role) is { } fault)
        {
            throw new QuickSilverOptionsException(
                [$"The certificate of the options {nameof(QuickSilverOptions.Security)} cannot be used: {fault}. Replace it, or set the "
                 + "clock."]);
        }
    }

    /// <summary>Why nobody believes what the process shows; null: they may.</summary>
    public static string? FaultOf(IStreamCredentials credentials, PeerRole role) =>
        credentials.Latest.FaultOfOwn(role, TimeProvider.System.GetUtcNow());

    /// <summary>The file of the secret, or of the certificate's key, if every user of the machine may read it; else null.</summary>
    public static string? FileReadByAll(SecurityOptions options) =>
        (options.SecretFile ?? options.CertificateKeyFile ?? options.CertificateFile) is { } path
            && !Secret.IsLike(path) && CredentialFiles.IsReadByAll(path)
            ? path
            : null;

    /// <summary>Told when files of secrets or certificates were read again.</summary>
    public static ILogger LogOf(ILoggerFactory logs) => logs.CreateLogger(Category);

    private static TlsCredentials OfVariable(string variable)
    {
        if (Secret.IsLike(variable))
        {
            throw new CredentialException($"{Key(nameof(SecurityOptions.SecretVariable))}: a secret was given where the name of a variable "
                + "is expected. It is not shown here.");
        }

        string? text = System.Environment.GetEnvironmentVariable(variable);
        return text is not null
            ? CredentialFiles.OfSecrets(text, $"the environment variable {variable}")
            : throw new CredentialException($"{Key(nameof(SecurityOptions.SecretVariable))}: there is no environment variable {variable}.");
    }

    private static WatchedCredentials OfFiles(SecurityOptions options, ILoggerFactory logs)
    {
        string certificate = options.CertificateFile!;
        string? key = options.CertificateKeyFile;
        string authority = options.AuthorityFile!;
        string[] paths = key is null ? [certificate, authority] : [certificate, key, authority];
        return Watched(() => CredentialFiles.OfCertificate(certificate, key, authority), paths, logs);
    }

    private static WatchedCredentials Watched(Func<TlsCredentials> read, string[] paths, ILoggerFactory logs)
    {
        var log = LogOf(logs);
        return new WatchedCredentials(
            read, paths, TimeProvider.System, (what, isGood) => CoreLog.CredentialsLookedAt(log, what, isGood));
    }

    private static string Key(string option) => $"{nameof(QuickSilverOptions.Security)}:{option}";
}
