using System.Diagnostics;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Campaigns.Outsider;

// By what the processes of one cluster know each other: a secret, or a certificate of an authority that only this cluster has.
internal sealed class ClusterKeys : IDisposable
{
    private readonly SecretFile? _secret;
    private readonly DirectoryInfo? _folder;

    public ClusterKeys(string name, bool hasCertificates)
    {
        if (!hasCertificates)
        {
            _secret = new SecretFile(name);
            return;
        }

        _folder = Directory.CreateTempSubdirectory("qsm-authority-");
        var files = (Certificate: PathOf(name + ".pem"), Authority: PathOf("authority.pem"));
        Make("authority", "--out", files.Authority);
        Make("certificate", "--authority", files.Authority, "--name", name, "--role", "both", "--out", files.Certificate);
        Certificate = files;
    }

    /// <summary>Null: it has certificates.</summary>
    public string? SecretFile => _secret?.Path;

    /// <summary>Null: it has a secret.</summary>
    public (string Certificate, string Authority)? Certificate { get; }

    public NodeProcess Start(NetworkNamespaces network, int node, string program, params string[] arguments) =>
        Certificate is { } files
            ? NodeProcess.StartWithCertificate(network, node, files, program, arguments)
            : NodeProcess.StartWithSecret(network, node, _secret!.Path, program, arguments);

    public void Dispose()
    {
        _secret?.Dispose();
        _folder?.Delete(recursive: true);
    }

    private string PathOf(string name) => Path.Combine(_folder!.FullName, name);

    private static void Make(params string[] arguments)
    {
        var (code, _, errors) = LimitedProcess.Run(new ProcessStartInfo(Programs.Qsm, ["keys", .. arguments]));
        Assert.True(code == 0, errors);
    }
}
