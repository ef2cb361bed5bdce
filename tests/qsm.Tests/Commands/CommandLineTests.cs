using QuickSilver.Tool.Commands;

namespace QuickSilver.Tool.Tests.Commands;

// The errors of a command line: which option, its value and what is allowed. The console is the process's own, so no other test runs
// beside these.
[Collection(nameof(CommandLineTests))]
public sealed class CommandLineTests
{
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
    [InlineData("The option Membership:Servers:0 is \"nowhere\". Allowed: \"host:port\"", "pub", "t", "--gms", "nowhere")]
    [InlineData("The option Membership:Hosted:MulticastNetwork is 239.192.0.0/31. Allowed: an IPv4 network of prefix length 8 to 30 ",
        "gms", "--multicast-range", "239.192.0.0/31")]
    [InlineData("--of: '5' is less than the sum of --first and --nodes, 6.", "swarm", "--nodes", "4", "--first", "2", "--of", "5")]
    [InlineData("Required argument 'TOPIC' missing", "pub")]
    [InlineData("Unrecognized option '--frob'.", "pub", "t", "--frob")]
    [InlineData("Unrecognized option '--cuont'. Did you mean '--count'?", "sub", "t", "--cuont", "3")]
    [InlineData("Unrecognized option '--jsno'. Did you mean '--json'?", "topics", "--jsno")]
    [InlineData("Unrecognized command or argument 'tpoics'. Did you mean 'topics'?", "tpoics")]
    [InlineData("Unrecognized command or argument 'describe'. Did you mean 'qsm topic describe' or 'qsm group describe'?", "describe", "t")]
    [InlineData(
        "Unrecognized command or argument 'describe'. Did you mean 'qsm topic describe' or 'qsm group describe'?", "node", "describe", "n")]
    [InlineData("Unrecognized command or argument 'list'. Did you mean 'qsm group list' or 'qsm topics' or 'qsm nodes'?", "topic", "list")]
    [InlineData("Unrecognized command or argument 'subscribe'. Did you mean 'qsm sub'?", "subscribe", "t")]
    [InlineData("Unrecognized command or argument 'descrbe'. Did you mean 'describe'?", "topic", "descrbe", "t")]
    [InlineData("Use either --json or --csharp, not both.", "topic", "describe", "t", "--json", "--csharp")]
    [InlineData("--namespace: '1x' is not a namespace", "topic", "describe", "t", "--csharp", "--namespace", "1x")]
    [InlineData("SCENARIO: Unknown scenario 'x'. Valid scenarios: throughput-vs-nodes, processor-vs-rate, ", "sim", "run", "x")]
    [InlineData("--nodes: '1' is not a number from 2 to 10000.", "sim", "run", "topics", "--nodes", "1")]
    [InlineData("--faults: 'loss=2' is not loss= and a number from 0 to 0.5.", "sim", "run", "topics", "--faults", "loss=2")]
    [InlineData("--faults: Unknown fault 'x'. Valid faults: none, sleep, loss-bursts, ", "sim", "run", "topics", "--faults", "sleep,x")]
    [InlineData("--model: Unknown model 'x'. Valid: papers, modern, isis.", "sim", "run", "topics", "--model", "x")]
    [InlineData("--interval: '0' is not a number from 0.2 to 60.", "top", "--interval", "0")]
    [InlineData("--rows: '33' is not a number from 1 to 32.", "top", "--rows", "33")]
    [InlineData("--sort: 'x' is none of rate, name, queued, pending, acks, token, late, gc, memory.", "top", "--sort", "x")]
    [InlineData("The option Membership:Servers:0 is \"nowhere\". Allowed: \"host:port\"", "top", "--gms", "nowhere")]
    [InlineData("--guarantee: '1' is none of ", "sub", "t", "--guarantee", "1")]
    [InlineData("--guarantee: 'foo' is none of ", "sub", "t", "--guarantee", "foo")]
    [InlineData("--security: /nowhere/x cannot be read: ", "pub", "t", "--security", "/nowhere/x")]
    [InlineData("The option --security cannot be used: /dev/null has 0 secrets, ", "pub", "t", "--security", "/dev/null")]
    [InlineData("--group-ports: '20000-19999' is not a range of ports from 1024 to 65535, the lower one first, such as ", "gms",
        "--group-ports", "20000-19999")]
    [InlineData("--wait: '-1' is not a number from 0 to 2592000.", "lock", "t", "--wait", "-1", "--", "true")]
    [InlineData("Required argument 'COMMAND' missing", "lock", "t")]
    [InlineData("Unrecognized option '-l'.", "lock", "t", "ls", "-l")]
    [InlineData("TOPIC: The topic name has 0 characters. It must have 1 to 255.", "lead", "", "--", "true")]
    [InlineData("--group-ports: '80-90' is not a range of ports from 1024 to 65535", "gms", "--group-ports", "80-90")]
    [InlineData("--authority is for a certificate, and --security names none.", "pub", "t", "--security", "none", "--authority", "x")]
    [InlineData("--etcd-authority needs --etcd.", "gms", "--etcd-authority", "x")]
    [InlineData("--host: 'a b' is not a host name or an address.", "keys", "certificate", "--authority", "x", "--name", "n",
        "--host", "a b")]
    [InlineData("Use either --feed or --rate, not both.", "perf", "send", "t", "--feed", "--rate", "1")]
    [InlineData("Use either --seconds or --minutes, not both.", "sim", "run", "topics", "--seconds", "1", "--minutes", "1")]
    public void A_wrong_command_line_is_refused_naming_what_is_wrong(string said, params string[] arguments)
    {
        var (code, _, errors) = Run(arguments);
        Assert.Equal(ExitCode.Usage, code);
        Assert.Contains("qsm: " + said, errors, StringComparison.Ordinal);
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
            ["lock"], ["lead"],
        ];
        Assert.All(commands, command =>
        {
            var (code, _, errors) = Run([.. command, "--help"]);
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
        var (code, output, errors) = Run(arguments);
        Assert.Equal((0, ""), (code, errors));
        Assert.Contains(said, output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("qsm su", "sub")]
    [InlineData("qsm topic ", "describe")]
    [InlineData("qsm sub --si", "--since-start")]
    [InlineData("qsm top --sort to", "Token")]
    public void A_shell_gets_what_can_follow(string line, string suggestion)
    {
        var (code, output, _) = Run($"[suggest:{line.Length}]", line);
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
        var (code, output, _) = Run("completion", shell);
        Assert.Equal(0, code);
        Assert.Contains("qsm \"[suggest:", output, StringComparison.Ordinal);
    }

    private static (int Code, string Output, string Errors) Run(params string[] arguments)
    {
        var (output, errors) = (Console.Out, Console.Error);
        using var written = new StringWriter();
        using var said = new StringWriter();
        Console.SetOut(written);
        Console.SetError(said);
        try
        {
            int code = CommandLine.RunAsync(arguments).WaitAsync(TimeSpan.FromMinutes(1)).GetAwaiter().GetResult();
            return (code, written.ToString(), said.ToString());
        }
        finally
        {
            Console.SetOut(output);
            Console.SetError(errors);
        }
    }
}

[CollectionDefinition(nameof(CommandLineTests), DisableParallelization = true)]
public sealed class CommandLineCollection;
