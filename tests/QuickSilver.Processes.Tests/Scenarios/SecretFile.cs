using System.Diagnostics;

namespace QuickSilver.Processes.Tests.Scenarios;

// A file with a secret, as `qsm keys secret` writes it.
internal sealed class SecretFile : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("qsm-secret-");

    public SecretFile(string name = "cluster")
    {
        Path = System.IO.Path.Combine(_folder.FullName, name);
        using var process = Process.Start(Programs.Qsm, ["keys", "secret", name, "--out", Path]);
        process.WaitForExit();
        Assert.Equal(0, process.ExitCode);
    }

    public string Path { get; }

    public void Dispose() => _folder.Delete(recursive: true);
}
