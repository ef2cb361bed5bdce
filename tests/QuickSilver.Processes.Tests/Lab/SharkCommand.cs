using System.Diagnostics;

namespace QuickSilver.Processes.Tests.Lab;

// tshark with the dissector of the repository: it captures on a node's device, and reads what was captured.
internal sealed class SharkCommand : IDisposable
{
    private static readonly string? FullPath =
        ((string[])["/usr/bin/tshark", "/usr/local/bin/tshark"]).FirstOrDefault(File.Exists);

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("qsm-capture-");
    private readonly string _file;
    private readonly string _script;
    private NodeProcess? _capture;

    /// <summary>Skips the running test, with the reason, where the machine has no tshark.</summary>
    /// <param name="script">The path of the dissector.</param>
    public SharkCommand(string script)
    {
        Skip.If(FullPath is null, "the command `tshark` is missing");
        _script = script;
        _file = Path.Combine(_folder.FullName, "run.pcapng");
    }

    /// <summary>Captures on the node's device until <see cref="StopCapture"/>.</summary>
    public void Capture(NetworkNamespaces network, int node)
    {
        _capture = NodeProcess.Start(network, node, FullPath!, "-i", "e0", "-q", "-w", _file);
        _capture.WaitForErrors(static errors => errors.Text().Contains("Capturing on", StringComparison.Ordinal), "it to capture");
    }

    public void StopCapture()
    {
        _capture!.Send(ProcessSignal.Interrupt);
        _capture.ExpectExit(0);
    }

    /// <summary>The rows of the capture that the filter passes: of each field, all its values in the frame.</summary>
    public List<string[][]> Read(string filter, params string[] fields)
    {
        string[] arguments =
        [
            "-X", "lua_script:" + _script, "-r", _file, "-Y", filter, "-T", "fields",
            .. fields.SelectMany(static field => (string[])["-e", field]),
        ];
        var start = new ProcessStartInfo(FullPath!, arguments) { RedirectStandardOutput = true, RedirectStandardError = true };
        using var process = Process.Start(start)!;
        var errors = process.StandardError.ReadToEndAsync();
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        Assert.True(process.ExitCode == 0, errors.Result);
        Assert.DoesNotContain("Lua", errors.Result, StringComparison.Ordinal);
        return [.. output.Split('\n', StringSplitOptions.RemoveEmptyEntries)
            .Select(static row => row.Split('\t')
                .Select(static values => values.Split(',', StringSplitOptions.RemoveEmptyEntries)).ToArray())];
    }

    public void Dispose()
    {
        _capture?.Dispose();
        _folder.Delete(recursive: true);
    }
}
