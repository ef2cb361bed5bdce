using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using QuickSilver.Core.Security.Identities;

namespace QuickSilver.Core.Transport.Tls;

// Reads secrets and certificates. What is wrong is said with the name of the file and without anything of its content.
internal static class CredentialFiles
{
    // A secret has less than 500 characters, and a chain of certificates some kilobytes.
    private const long MostBytes = 1 << 20;
    private const int MostSecrets = 16;
    private const string GetSecret =
        "Copy the secret from another machine of the cluster, or make one for all of them with 'qsm keys secret'.";

    /// <summary>The secrets of a text: one a line, the own one first. Empty lines and those that begin with # are left out.</summary>
    /// <exception cref="CredentialException">There is none, or a line is wrong.</exception>
    public static TlsCredentials OfSecrets(string text, string source) => TlsCredentials.Of(SecretsOf(text, source));

    /// <inheritdoc cref="OfSecrets"/>
    public static IReadOnlyList<Secret> SecretsOf(string text, string source)
    {
        var secrets = new List<Secret>();
        int number = 0;
        foreach (var line in text.Split('\n', StringSplitOptions.TrimEntries))
        {
            number++;
            if (line.Length == 0 || line[0] == '#')
            {
                continue;
            }

            if (!Secret.TryParse(line, out var secret, out string? fault))
            {
                throw new CredentialException($"{source}, line {number}: {fault} {GetSecret}");
            }

            secrets.Add(secret);
        }

        return secrets.Count is >= 1 and <= MostSecrets
            ? secrets
            : throw new CredentialException(
                $"{source} has {secrets.Count} secrets, and 1 to {MostSecrets} are allowed. "
                + (secrets.Count == 0 ? GetSecret : "Remove those that no node connects with any more."));
    }

    public static TlsCredentials OfSecretFile(string path) => OfSecrets(ReadText(path), path);

    /// <summary>A certificate with its key, and what lies between it and its authority, as PEM.</summary>
    /// <param name="certificatePath">The certificate comes first in it.</param>
    /// <param name="keyPath">Null: the key is in the file of the certificate.</param>
    /// <exception cref="CredentialException">It cannot be read, or is no certificate with its key.</exception>
    public static (X509Certificate2 Own, X509Certificate2Collection Between) ReadCertificate(string certificatePath, string? keyPath)
    {
        string certificates = ReadText(certificatePath);
        string key = keyPath is null ? certificates : ReadText(keyPath);
        X509Certificate2 own;
        try
        {
            own = CertificateIssue.Usable(X509Certificate2.CreateFromPem(certificates, key));
        }
        catch (Exception exception) when (exception is CryptographicException or ArgumentException)
        {
            string where = keyPath is null ? certificatePath : $"{certificatePath} with the key {keyPath}";
            throw new CredentialException(
                $"{where} is no certificate with its key (PEM): {exception.Message.TrimEnd('.')}. Name a file that begins with the "
                + "certificate and has its key, as 'qsm keys certificate' writes it.",
                exception);
        }

        var between = Import(certificates, certificatePath);
        between.RemoveAt(0);
        return (own, between);
    }

    /// <summary>The certificates of authorities, as PEM; at least one.</summary>
    /// <exception cref="CredentialException">They cannot be read, or there is none.</exception>
    public static X509Certificate2Collection ReadAuthorities(string path) => Import(ReadText(path), path);

    private static X509Certificate2Collection Import(string pem, string path)
    {
        var all = new X509Certificate2Collection();
        try
        {
            all.ImportFromPem(pem);
        }
        catch (CryptographicException exception)
        {
            throw new CredentialException(
                $"{path} is no certificate (PEM): {exception.Message.TrimEnd('.')}. Copy the file again.", exception);
        }

        return all.Count > 0
            ? all
            : throw new CredentialException(
                $"{path} has no certificate (PEM). Name the file that begins with -----BEGIN CERTIFICATE-----.");
    }

    /// <summary>
    /// Whether every user of the machine may read what is in the file. False where files have no modes, for one that is gone or empty, and
    /// for what is no file: to take a directory or a device away from all other users harms the machine.
    /// </summary>
    public static bool IsReadByAll(string path)
    {
        try
        {
            return !OperatingSystem.IsWindows()
                && new FileInfo(path) is { Exists: true, Length: > 0 }
                && File.GetUnixFileMode(path).HasFlag(UnixFileMode.OtherRead);
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            return false;
        }
    }

    /// <exception cref="CredentialException">It cannot be read, or is too large.</exception>
    public static string ReadText(string path)
    {
        if (Secret.IsLike(path))
        {
            // It would be shown with the failure.
            throw new CredentialException("A secret was given where the name of a file is expected. It is not shown here.");
        }

        try
        {
            var file = new FileInfo(path);
            if (Directory.Exists(path))
            {
                throw new CredentialException($"{path} is a directory. Name the file in it.");
            }

            // Pipes and devices have no length, and reading them may never end.
            return file.Length == 0 ? ""
                : file.Length <= MostBytes ? File.ReadAllText(path)
                : throw new CredentialException($"{path} has {file.Length} bytes, which is too much.");
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException or ArgumentException)
        {
            string named = path.Length == 0 ? "The file without a name" : path;
            throw new CredentialException($"{named} cannot be read: {WhyUnread(path, exception)}", exception);
        }
    }

    private static string WhyUnread(string path, Exception failure) => failure switch
    {
        FileNotFoundException or DirectoryNotFoundException =>
            $"there is no file {Path.GetFullPath(path)}. Correct the name, or put the file there.",
        UnauthorizedAccessException =>
            $"the user {System.Environment.UserName}, who runs this process, may not read it. Make that user its owner, or run the process "
            + "as the owner.",
        _ => $"{failure.Message.TrimEnd('.')}. Correct the name, or look at the disk.",
    };
}

// A secret or a certificate that cannot be used. The message names the file, and nothing that is in it.
internal sealed class CredentialException(string message, Exception? inner = null) : Exception(message, inner);
