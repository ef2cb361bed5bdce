using System.Diagnostics;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.LabTests;

public sealed class NodeProcessTests
{
    [Fact]
    public void A_process_runs_inside_its_node_and_is_heard_byte_for_byte()
    {
        using var network = NetworkNamespaces.Create(2);
        using var process = NodeProcess.Start(network, 2, "/bin/sh", "-c", "ip -o -4 address show dev e0; cat; echo done >&2; exit 3");

        process.Feed("grüße\n\nno newline at the end");
        process.CloseInput();

        process.ExpectExit(3);
        Assert.Contains("10.99.1.2/24", process.Output.Lines()[0], StringComparison.Ordinal);
        Assert.EndsWith("\ngrüße\n\nno newline at the end", process.Output.Text(), StringComparison.Ordinal);
        Assert.Equal("done\n", process.Errors.Text());
    }

    [Theory]
    [InlineData("INT", 2)]
    [InlineData("TERM", 15)]
    public void A_signal_reaches_the_process_itself(string name, int signal)
    {
        using var network = NetworkNamespaces.Create(1);
        using var process = NodeProcess.Start(
            network, 1, "/bin/sh", "-c", $"trap 'echo caught; exit 0' {name}; echo ready $$; while :; do read line; done");

        process.WaitForOutput(o => o.LineCount >= 1, "the trap to be set");
        Assert.Equal($"ready {process.Id}", process.Output.Lines()[0]);
        process.Send((ProcessSignal)signal);

        process.ExpectExit(0);
        Assert.Equal("caught", process.Output.Lines()[1]);
    }

    [Fact]
    public void A_process_that_ends_too_early_is_reported_with_its_output()
    {
        using var network = NetworkNamespaces.Create(1);
        using var process = NodeProcess.Start(network, 1, "/bin/sh", "-c", "echo sorry >&2; exit 7");

        var failure = Record.Exception(() => process.WaitForErrors(e => e.Text().Contains("ready", StringComparison.Ordinal), "ready"));

        Assert.NotNull(failure);
        Assert.Contains("sorry", failure.Message, StringComparison.Ordinal);
        Assert.Contains("before ready", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_process_that_runs_for_longer_than_any_test_needs_is_ended_with_what_it_has_started()
    {
        Assert.SkipUnless(File.Exists("/bin/sh"), "there is no shell");
        var start = new ProcessStartInfo("/bin/sh", ["-c", "sleep 1000 & echo up; sleep 1000"]) { RedirectStandardOutput = true };
        using var process = LimitedProcess.Start(start, TimeSpan.FromMilliseconds(500));
        Assert.Equal("up\n", process.StandardOutput.ReadToEnd());
        process.WaitForExit();
        Assert.NotEqual(0, process.ExitCode);
    }

    [Fact]
    public void Disposal_ends_what_runs_in_the_namespaces_and_removes_them()
    {
        string[] names;
        NodeProcess process;
        using (var network = NetworkNamespaces.Create(2))
        {
            names = [network.Name(1), network.Name(2)];
            Assert.All(names, name => Assert.True(File.Exists("/run/netns/" + name)));
            process = NodeProcess.Start(network, 1, "/bin/sh", "-c", "echo up; exec sleep 1000");
            process.WaitForOutput(o => o.LineCount == 1, "up");
        }

        Assert.NotEqual(0, process.WaitForExit());
        process.Dispose();
        Assert.All(names, name => Assert.False(File.Exists("/run/netns/" + name)));
    }
}
