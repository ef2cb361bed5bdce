using System.Diagnostics;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Scenarios.Commands;

// What the tool says after a mistake: which option, its value, what is allowed, and an exit code that a script can check.
// No network is needed: nothing here gets as far as a peer. The tests of the tool run more command lines, without a process.
public sealed class CommandLineScenarios
{
    private const int Failed = 1;
    private const int Usage = 2;
    private const int Unreachable = 3;

    [Fact]
    public void A_wrong_command_line_ends_with_the_code_for_usage_and_names_what_is_wrong()
    {
        var (code, errors) = Run("sub", "t", "--count", "x");
        Assert.Equal(Usage, code);
        Assert.Contains("qsm: --count: 'x' is not a number from 1 to 9223372036854775807.", errors, StringComparison.Ordinal);
    }

    [Fact]
    public void A_service_that_may_not_listen_says_on_which_option_why_and_what_to_do()
    {
        var (code, errors) = Run(["gms", "--security", "none", "--listen", "192.0.2.1"]);
        Assert.Equal(Failed, code);
        Assert.Contains(
            "qsm: --listen: Cannot listen at 192.0.2.1:7400: no interface of this machine has this address. Choose an address of this",
            errors,
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("none")]
    [InlineData("cluster.secret")]
    public void A_secret_in_the_environment_is_not_given_up_for_what_else_is_there(string security)
    {
        var start = new ProcessStartInfo(Programs.Qsm, ["nodes"]);
        start.Environment["QS_SECURITY"] = security;
        start.Environment["QS_SECRET"] = "quicksilver-secret:cluster:x";
        var (code, _, errors) = LimitedProcess.Run(start);
        Assert.Equal(Usage, code);
        Assert.Contains($"qsm: QS_SECURITY is {security}, but QS_SECRET has a secret.", errors, StringComparison.Ordinal);
    }

    [Fact]
    public void A_service_whose_host_has_no_address_is_unreachable()
    {
        var (code, errors) = Run("pub", "t", "--gms", "no-such-host.invalid:7400");
        Assert.Equal(Unreachable, code);
        Assert.Contains("Cannot resolve the membership service no-such-host.invalid:7400", errors, StringComparison.Ordinal);
    }

    [Fact]
    public void A_service_that_could_not_keep_its_state_does_not_start()
    {
        var (code, errors) = Run("gms", "--listen", "127.0.0.1:0", "--state", "/nonexistent/folder/epoch");
        Assert.Equal(Failed, code);
        Assert.Contains("--state: ", errors, StringComparison.Ordinal);
    }

    [Fact]
    public void A_second_service_with_the_same_state_does_not_start_before_the_first_has_ended()
    {
        var folder = Directory.CreateTempSubdirectory("state");
        try
        {
            string state = Path.Combine(folder.FullName, "epoch");
            string[] service = ["gms", "--listen", "127.0.0.1:0", "--state", state];
            using var processes = new ToolProcesses();
            var first = processes.Start(service);
            ToolProcesses.Await(first.StandardError, "listening ");
            var (code, errors) = Run(service);
            Assert.Equal(Failed, code);
            Assert.Contains($"--state: another membership service has '{state}'.", errors, StringComparison.Ordinal);
            first.Kill();
            ToolProcesses.Await(processes.Start(service).StandardError, "listening ");
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Fact]
    public void Without_arguments_the_help_is_printed()
    {
        var (code, output, errors) = LimitedProcess.Run(new ProcessStartInfo(Programs.Qsm));
        Assert.Equal((0, ""), (code, errors));
        Assert.Contains("Commands:", output, StringComparison.Ordinal);
    }

    [Fact]
    public void Bash_completes_a_command_with_the_script()
    {
        const string Bash = "/bin/bash";
        Assert.SkipUnless(File.Exists(Bash), "bash is not installed");
        const string Complete =
            "eval \"$(qsm completion bash)\"; COMP_LINE='qsm sub --si'; COMP_POINT=${#COMP_LINE}; COMP_WORDS=(qsm sub --si); COMP_CWORD=2; "
            + "_qsm_complete; printf '%s ' \"${COMPREPLY[@]}\"";
        var start = new ProcessStartInfo(Bash, ["-c", Complete]);
        start.Environment["PATH"] = $"{Path.GetDirectoryName(Programs.Qsm)}:{System.Environment.GetEnvironmentVariable("PATH")}";
        Assert.Equal("--since-start ", LimitedProcess.Run(start).Output);
    }

    private static (int Code, string Errors) Run(params string[] arguments)
    {
        var (code, _, errors) = RunAll(arguments);
        return (code, errors);
    }

    private static (int Code, string Output, string Errors) RunAll(params string[] arguments) =>
        LimitedProcess.Run(new ProcessStartInfo(Programs.Qsm, arguments), limit: TimeSpan.FromSeconds(30));
}
