using QuickSilver.Core.Transport.Tls;

namespace QuickSilver.Core.Tests.Transport.Tls;

// What is said of files that are not what they should be: which one, why, and what to do.
public sealed class CredentialFilesTests : IDisposable
{
    private readonly string _path = Path.GetTempFileName();

    public void Dispose() => File.Delete(_path);

    [Fact]
    public void Only_a_file_with_something_in_it_is_one_that_others_should_not_read()
    {
        if (OperatingSystem.IsWindows())
        {
            return;
        }

        File.SetUnixFileMode(_path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.OtherRead);
        Assert.False(CredentialFiles.IsReadByAll(_path));
        File.WriteAllText(_path, "a secret");
        Assert.True(CredentialFiles.IsReadByAll(_path));
        // Everybody needs these.
        Assert.False(CredentialFiles.IsReadByAll("/"));
        Assert.False(CredentialFiles.IsReadByAll("/dev/null"));
    }

    [Fact]
    public void A_missing_file_is_named_in_full_with_what_to_do()
    {
        string full = Path.GetFullPath("absent.secret");
        Says($"absent.secret cannot be read: there is no file {full}. Correct the name, or put the file there.", "absent.secret");
        Says($"cannot be read: there is no file {_path}.d{Path.DirectorySeparatorChar}x. ", $"{_path}.d{Path.DirectorySeparatorChar}x");
    }

    [Theory]
    [InlineData("", "has 0 secrets, and 1 to 16 are allowed. Copy the secret from another machine of the cluster, or make one")]
    [InlineData("quicksilver-secret:x:c2hvcnQ=", "line 1: Its key has 5 bytes, and at least 32 are required. Copy the secret from")]
    public void A_file_without_a_usable_secret_says_where_to_get_one(string content, string expected)
    {
        File.WriteAllText(_path, content);
        var failure = Assert.Throws<CredentialException>(() => CredentialFiles.OfSecretFile(_path));
        Assert.Contains(expected, failure.Message, StringComparison.Ordinal);
    }

    private static void Says(string expected, string path)
    {
        var failure = Assert.Throws<CredentialException>(() => CredentialFiles.ReadText(path));
        Assert.Contains(expected, failure.Message, StringComparison.Ordinal);
    }
}
