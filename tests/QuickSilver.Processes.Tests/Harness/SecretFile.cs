using System.Diagnostics;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Harness;

// A file with a secret, as `qsm keys secret` writes it.
internal sealed class SecretFile : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("qsm-secret-");

    public SecretFile(string name = "cluster")
    {
        Path = System.IO.Path.Combine(_folder.FullName, name);
        var (code, _, errors) = LimitedProcess.Run(new ProcessStartInfo(Programs.Qsm, ["keys", "secret", name, "--out", Path]));
        Assert.True(code == 0, errors);
    }

    public string Path { get; }

    public void Dispose() => _folder.Delete(recursive: true);
}
