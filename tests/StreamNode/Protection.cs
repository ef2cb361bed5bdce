using QuickSilver;

namespace StreamNode;

internal static class Protection
{
    public static SecurityOptions Read()
    {
        string? file = Environment.GetEnvironmentVariable("QS_SECURITY");
        string? authority = Environment.GetEnvironmentVariable("QS_AUTHORITY");
        return file is null or "" or "none" ? SecurityOptions.None
            : authority is { Length: > 0 } ? new SecurityOptions { CertificateFile = file, AuthorityFile = authority }
            : new SecurityOptions { SecretFile = file };
    }
}
