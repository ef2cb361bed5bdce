using System.Diagnostics;
using QuickSilver.Processes.Tests.Lab;

namespace QuickSilver.Processes.Tests.Scenarios;

// What the tool says to one who errs: which option, its value, what is allowed, and an exit code that a script can tell.
// No network is needed: nothing here gets as far as a peer.
public sealed class CommandLineScenarios
{
    private const int Failed = 1;
    private const int Usage = 2;
    private const int Unreachable = 3;

    [Theory]
    [InlineData("--count: 'x' is not a number from 1 to 9223372036854775807.", "sub", "t", "--count", "x")]
    [InlineData("--count: '0' is not a number from 1 to 9223372036854775807.", "sub", "t", "--count", "0")]
    [InlineData("--receivers: '0' is not a number from 1 to 100000.", "pub", "t", "--receivers", "0")]
    [InlineData("--packet-bytes: '5' is not a number from 576 to 65507.", "pub", "t", "--packet-bytes", "5")]
    [InlineData("--seconds: 'NaN' is not a number from 0.1 to 86400.", "perf", "send", "t", "--seconds", "NaN")]
    [InlineData("--size: '16777217' is not a number from 16 to 16777216.", "perf", "send", "t", "--size", "16777217")]
    [InlineData("TOPIC: The topic name has 0 characters. It must have 1 to 255.", "pub", "")]
    [InlineData("TOPIC: The topic name contains the control character U+0009 at position 1. ", "sub", "t", "t\tt")]
    [InlineData("--interface: \"10.0.0.0/33\" is not a subnet.", "pub", "t", "--interface", "10.0.0.0/33")]
    [InlineData("The option Interface is 192.0.2.77. Allowed: an address of this machine: ", "pub", "t",
        "--interface", "192.0.2.77")]
    [InlineData("The option MembershipService is \"nowhere\". Allowed: \"host:port\"", "pub", "t", "--gms", "nowhere")]
    [InlineData("The option Service:MulticastNetwork is 239.192.0.0/31. Allowed: an IPv4 network of prefix length 8 to 30 ", "gms",
        "--multicast-range", "239.192.0.0/31")]
    [InlineData("--of: '5' is less than the sum of --first and --nodes, 6.", "swarm", "--nodes", "4", "--first", "2", "--of", "5")]
    [InlineData("Required argument 'TOPIC' missing", "pub")]
    [InlineData("Unrecognized option '--frob'.", "pub", "t", "--frob")]
    [InlineData("Unrecognized option '--cuont'. Did you mean '--count'?", "sub", "t", "--cuont", "3")]
    [InlineData("Unrecognized option '--jsno'. Did you mean '--json'?", "topics", "--jsno")]
    [InlineData("Unrecognized command or argument 'tpoics'. Did you mean 'topics'?", "tpoics")]
    [InlineData("Unrecognized command or argument 'describe'. Did you mean 'qsm topic describe'?", "describe", "t")]
    [InlineData("Unrecognized command or argument 'describe'. Did you mean 'qsm topic describe'?", "node", "describe", "n")]
    [InlineData("Unrecognized command or argument 'list'. Did you mean 'qsm topics' or 'qsm nodes'?", "topic", "list")]
    [InlineData("Unrecognized command or argument 'subscribe'. Did you mean 'qsm sub'?", "subscribe", "t")]
    [InlineData("Unrecognized command or argument 'descrbe'. Did you mean 'describe'?", "topic", "descrbe", "t")]
    [InlineData("Use either --json or --csharp, not both.", "topic", "describe", "t", "--json", "--csharp")]
    [InlineData("--namespace: '1x' is not a namespace", "topic", "describe", "t", "--csharp", "--namespace", "1x")]
    [InlineData("SCENARIO: Unknown scenario 'x'. Valid scenarios: throughput-vs-nodes, processor-vs-rate, ", "sim", "run", "x")]
    [InlineData("--nodes: '1' is not a number from 2 to 10000.", "sim", "run", "topics", "--nodes", "1")]
    [InlineData("--faults: 'loss=2' is not loss= and a number from 0 to 0.5.", "sim", "run", "topics", "--faults", "loss=2")]
    [InlineData("--faults: Unknown fault 'x'. Valid faults: none, sleep, loss-bursts, ", "sim", "run", "topics", "--faults", "sleep,x")]
    [InlineData("--model: Unknown model 'x'. Valid: papers, modern.", "sim", "run", "topics", "--model", "x")]
    [InlineData("--interval: '0' is not a number from 0.2 to 60.", "top", "--interval", "0")]
    [InlineData("--rows: '33' is not a number from 1 to 32.", "top", "--rows", "33")]
    [InlineData("--sort: 'x' is none of rate, name, queued, pending, acks, token, late, gc, memory.", "top", "--sort", "x")]
    [InlineData("The option MembershipService is \"nowhere\". Allowed: \"host:port\"", "top", "--gms", "nowhere")]
    [InlineData("--guarantee: '1' is none of ", "sub", "t", "--guarantee", "1")]
    [InlineData("--guarantee: 'foo' is none of ", "sub", "t", "--guarantee", "foo")]
    [InlineData("--security: /nowhere/x cannot be read: ", "pub", "t", "--security", "/nowhere/x")]
    [InlineData("The option --security cannot be used: /dev/null has 0 secrets, ", "pub", "t", "--security", "/dev/null")]
    [InlineData("--group-ports: '20000-19999' is not a range of ports from 1024 to 65535, the lower one first, such as ", "gms",
        "--group-ports", "20000-19999")]
    [InlineData("--group-ports: '80-90' is not a range of ports from 1024 to 65535", "gms", "--group-ports", "80-90")]
    [InlineData("--authority is for a certificate, and --security names none.", "pub", "t", "--security", "none", "--authority", "x")]
    [InlineData("--etcd-authority needs --etcd.", "gms", "--etcd-authority", "x")]
    [InlineData("--host: 'a b' is not a host name or an address.", "keys", "certificate", "--authority", "x", "--name", "n",
        "--host", "a b")]
    [InlineData("Use either --feed or --rate, not both.", "perf", "send", "t", "--feed", "--rate", "1")]
    [InlineData("Use either --seconds or --minutes, not both.", "sim", "run", "topics", "--seconds", "1", "--minutes", "1")]
    public void A_wrong_command_line_is_refused_naming_what_is_wrong(string said, params string[] arguments)
    {
        var (code, errors) = Run(arguments);
        Assert.Equal(Usage, code);
        Assert.Contains("qsm: " + said, errors, StringComparison.Ordinal);
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
    public void Each_command_explains_itself()
    {
        string[][] commands =
        [
            [], ["gms"], ["pub"], ["sub"], ["perf"], ["perf", "send"], ["perf", "receive"], ["perf", "echo"], ["perf", "ping"],
            ["perf", "respond"], ["perf", "request"],
            ["sim"], ["sim", "run"],
            ["swarm"], ["swarm", "check"], ["top"], ["topics"], ["topic"], ["topic", "describe"], ["nodes"], ["completion"],
        ];
        Assert.All(commands, command =>
        {
            var (code, errors) = Run([.. command, "--help"]);
            Assert.Equal(0, code);
            Assert.Empty(errors);
        });
    }

    [Theory]
    [InlineData("Commands:")]
    [InlineData("Commands:", "help")]
    [InlineData("--since-start", "help", "sub")]
    [InlineData("--rate", "help", "perf", "ping")]
    public void Without_arguments_and_with_the_word_help_the_help_is_printed(string said, params string[] arguments)
    {
        var (code, output, errors) = RunAll(arguments);
        Assert.Equal((0, ""), (code, errors));
        Assert.Contains(said, output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("qsm su", "sub")]
    [InlineData("qsm topic ", "describe")]
    [InlineData("qsm sub --si", "--since-start")]
    [InlineData("qsm top --sort to", "Token")]
    public void A_shell_is_told_what_can_follow(string line, string suggestion)
    {
        var (code, output, _) = RunAll($"[suggest:{line.Length}]", line);
        Assert.Equal(0, code);
        Assert.Contains(suggestion, output.Split('\n', StringSplitOptions.RemoveEmptyEntries));
    }

    [Theory]
    [InlineData("bash")]
    [InlineData("zsh")]
    [InlineData("fish")]
    [InlineData("pwsh")]
    public void The_script_for_a_shell_asks_the_program(string shell)
    {
        var (code, output, _) = RunAll("completion", shell);
        Assert.Equal(0, code);
        Assert.Contains("qsm \"[suggest:", output, StringComparison.Ordinal);
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
