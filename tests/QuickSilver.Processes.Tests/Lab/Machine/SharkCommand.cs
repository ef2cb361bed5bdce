using System.Diagnostics;
using System.Globalization;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Lab.Machine;

// tshark with the dissector of the repository: it captures on a node's device, and reads what was captured.
internal sealed class SharkCommand : IDisposable
{
    private static readonly string? FullPath =
        ((string[])["/usr/bin/tshark", "/usr/local/bin/tshark"]).FirstOrDefault(File.Exists);

    private static readonly TimeSpan CaptureLimit = TimeSpan.FromSeconds(30);

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("qsm-capture-");
    private readonly string _file;
    private readonly string _script;
    private NodeProcess? _capture;

    /// <summary>Skips the running test, with the reason, where the machine has no tshark.</summary>
    /// <param name="script">The path of the dissector.</param>
    public SharkCommand(string script)
    {
        Assert.SkipWhen(FullPath is null, "the command `tshark` is missing");
        _script = script;
        _file = Path.Combine(_folder.FullName, "run.pcapng");
    }

    /// <summary>Captures on the node's device until <see cref="StopCapture"/>.</summary>
    public void Capture(NetworkNamespaces network, int node)
    {
        _capture = NodeProcess.Start(network, node, FullPath!, "-i", "e0", "-q", "-w", _file);
        _capture.WaitForErrors(static errors => errors.Text().Contains("Capturing on", StringComparison.Ordinal), "it to capture");
    }

    /// <summary>Ends the capture once it holds all that the device has carried until now.</summary>
    public void StopCapture()
    {
        // The kernel hands packets on in blocks, and tshark drops the block that is not full when it ends. The heartbeats of the nodes
        // continue, so a packet of a later time shows that all earlier ones are in the file.
        var deadline = Stopwatch.StartNew();
        string later = string.Create(
            CultureInfo.InvariantCulture, $"frame.time_epoch > {DateTimeOffset.UtcNow.ToUnixTimeMilliseconds() / 1000.0:F3}");
        while (Run("-r", _file, "-Y", later, "-T", "fields", "-e", "frame.number").Output.Length == 0)
        {
            Assert.True(deadline.Elapsed < CaptureLimit, "no packet was captured after the run");
        }

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
        (int code, string output, string errors) = Run(arguments);
        Assert.True(code == 0, errors);
        Assert.DoesNotContain("Lua", errors, StringComparison.Ordinal);
        return [.. output.Split('\n', StringSplitOptions.RemoveEmptyEntries)
            .Select(static row => row.Split('\t')
                .Select(static values => values.Split(',', StringSplitOptions.RemoveEmptyEntries)).ToArray())];
    }

    private static (int Code, string Output, string Errors) Run(params string[] arguments) =>
        LimitedProcess.Run(new ProcessStartInfo(FullPath!, arguments));

    public void Dispose()
    {
        _capture?.Dispose();
        _folder.Delete(recursive: true);
    }
}
