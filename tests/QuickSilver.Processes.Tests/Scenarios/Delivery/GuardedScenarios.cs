using System.Diagnostics;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Scenarios.Delivery;

// Programs that run while a node holds a lock of the cluster, or leads.
public sealed class GuardedScenarios : IDisposable
{
    private const string Print = "echo $QUICKSILVER_FENCING_VIEW $QUICKSILVER_FENCING_GRANT";

    private readonly ToolProcesses _processes = new();
    private readonly string _cluster = $"guarded {Guid.NewGuid():N}";

    [Fact]
    public void One_command_runs_at_a_time_with_a_higher_fencing_number_and_its_exit_code_is_that_of_qsm()
    {
        string service = _processes.StartService(_cluster);
        var first = Start(service, "lock", "jobs", "--", "sh", "-c", $"{Print}; read line; echo $line; exit 7");
        var before = FencingOf(first.StandardOutput.ReadLine()!);

        var (code, output, errors) = Run(service, "lock", "jobs", "--wait", "0", "--", "echo", "runs");
        Assert.Equal((124, ""), (code, output));
        Assert.Contains("qsm: The lock \"jobs\" was not granted within 0 s: node ", errors);
        (code, output, errors) = Run(service, "lock", "jobs", "--wait", "0.5", "--", "echo", "runs");
        Assert.Equal((124, ""), (code, output));
        Assert.Contains("qsm: The lock \"jobs\" was not granted within 0.5 s: node ", errors);

        var second = Start(service, "lock", "jobs", "--", "sh", "-c", Print);
        first.StandardInput.WriteLine("last words");
        Assert.Equal("last words", first.StandardOutput.ReadLine());
        Assert.Equal(7, ExitCodeOf(first));
        Assert.True(before.CompareTo(FencingOf(second.StandardOutput.ReadLine()!)) < 0);
        Assert.Equal(0, ExitCodeOf(second));
    }

    [Fact]
    public void A_command_that_cannot_be_started_is_refused_before_the_lock_is_asked_for()
    {
        // No service is there.
        var (code, _, errors) = Run("127.0.0.1:9", "lock", "jobs", "--", "no such command");
        Assert.Equal((127, "qsm: no such command: there is no such command.\n"), (code, errors));

        (code, _, errors) = Run("127.0.0.1:9", "lock", "jobs", "--", "/");
        Assert.Equal((126, "qsm: / cannot be started: it is not an executable file.\n"), (code, errors));
    }

    [Fact]
    public void Where_nodes_host_the_service_a_lock_is_refused_unless_it_is_allowed()
    {
        string[] hosted = ["lock", "jobs", "--cluster", _cluster, "--", "echo", "runs"];
        var (code, output, errors) = _processes.Run(hosted);
        Assert.Equal((1, ""), (code, output));
        Assert.Contains("On one machine, use --hosted.", errors);
        (code, output, errors) = _processes.Run(["lock", "--hosted", .. hosted[1..]]);
        Assert.Equal((0, "runs\n"), (code, output));
        Assert.DoesNotContain("1650", errors);
    }

    [Theory]
    [InlineData(nameof(ProcessSignal.Terminate), "TERM")]
    [InlineData(nameof(ProcessSignal.Interrupt), "INT")]
    public void A_signal_is_passed_to_the_command(string signal, string trapped)
    {
        string service = _processes.StartService(_cluster);
        var locked = Start(
            service, "lock", "jobs", "--", "sh", "-c", $"trap 'echo got; exit 3' {trapped}; echo begun; while :; do sleep 0.1; done");
        Assert.Equal("begun", locked.StandardOutput.ReadLine());
        _ = Linux.Kill(locked.Id, (int)Enum.Parse<ProcessSignal>(signal));

        Assert.Equal("got", locked.StandardOutput.ReadLine());
        Assert.Equal(3, ExitCodeOf(locked));
        var (code, output, errors) = Run(service, "lock", "jobs", "--wait", "0", "--", "echo", "runs");
        Assert.Equal((0, "runs\n"), (code, output));
        Assert.DoesNotContain("1650", errors);
    }

    [Fact]
    public void A_command_whose_lock_is_lost_is_asked_to_end_and_may_take_its_time()
    {
        var gms = _processes.Start("gms", "--listen", "127.0.0.1:0", "--cluster", _cluster);
        string service = ToolProcesses.Await(gms.StandardError, "listening ")["listening ".Length..];
        var locked = Start(
            service, "lock", "jobs", "--", "sh", "-c", "trap 'sleep 1; echo ends; exit 3' TERM; echo begun; while :; do sleep 0.1; done");
        Assert.Equal("begun", locked.StandardOutput.ReadLine());
        gms.Kill();

        ToolProcesses.Await(
            locked.StandardError, "qsm: The lock \"jobs\" is lost: others may have it now. The command is asked to end.");
        Assert.Equal("ends", locked.StandardOutput.ReadLine());
        Assert.Equal(125, ExitCodeOf(locked));
    }

    [Fact]
    public void The_next_candidate_leads_with_a_higher_term_when_the_command_of_the_leader_has_ended()
    {
        string service = _processes.StartService(_cluster);
        string[] program = ["lead", "billing", "--", "sh", "-c", "echo $QUICKSILVER_TERM; read line; exit 5"];
        var first = Start(service, program);
        long term = long.Parse(first.StandardOutput.ReadLine()!);
        var second = Start(service, program);
        first.StandardInput.WriteLine("enough");
        Assert.Equal(5, ExitCodeOf(first));

        Assert.True(long.Parse(second.StandardOutput.ReadLine()!) > term);
        second.StandardInput.WriteLine("enough");
        Assert.Equal(5, ExitCodeOf(second));
    }

    [Fact]
    public void A_command_is_started_again_when_its_node_leads_again()
    {
        var gms = _processes.Start("gms", "--listen", "127.0.0.1:0", "--cluster", _cluster);
        string service = ToolProcesses.Await(gms.StandardError, "listening ")["listening ".Length..];
        var leader = Start(
            service, "lead", "billing", "--", "sh", "-c", "trap 'echo ends; exit 3' TERM; echo begun; while :; do sleep 0.1; done");
        Assert.Equal("begun", leader.StandardOutput.ReadLine());
        _ = Linux.Kill(gms.Id, (int)ProcessSignal.Stop);
        Assert.Equal("ends", leader.StandardOutput.ReadLine());
        _ = Linux.Kill(gms.Id, (int)ProcessSignal.Continue);
        Assert.Equal("begun", leader.StandardOutput.ReadLine());
        _ = Linux.Kill(leader.Id, (int)ProcessSignal.Terminate);
        Assert.Equal(3, ExitCodeOf(leader));
    }

    public void Dispose() => _processes.Dispose();

    private static (long View, long Grant) FencingOf(string line) =>
        line.Split(' ') is [var view, var grant] ? (long.Parse(view), long.Parse(grant)) : throw new FormatException(line);

    private static int ExitCodeOf(Process process)
    {
        Assert.True(process.WaitForExit(ToolProcesses.Limit), "The command did not end.");
        return process.ExitCode;
    }

    // Options come before the dashes.
    private string[] Arguments(string service, string[] arguments) =>
        [arguments[0], "--gms", service, "--cluster", _cluster, .. arguments[1..]];

    private Process Start(string service, params string[] arguments) => _processes.Start(Arguments(service, arguments));

    private (int Code, string Output, string Errors) Run(string service, params string[] arguments) =>
        _processes.Run(Arguments(service, arguments));
}
