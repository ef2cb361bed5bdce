using System.CommandLine;
using QuickSilver.Tool.Perf;

namespace QuickSilver.Tool.Commands.Perf;

// The measuring commands, and the options that they share.
internal static class PerfCommand
{
    public static Command Create() => new("perf", "Measure throughput, latency and losses between processes.")
    {
        PerfSendCommand.Create(),
        PerfReceiveCommand.Create(),
        PerfEchoCommand.Create(),
        PerfPingCommand.Create(),
        PerfRespondCommand.Create(),
        PerfRequestCommand.Create(),
        PerfGroupCommand.Create(),
    };

    public static Argument<string> Topic()
    {
        var topic = new Argument<string>("TOPIC") { Description = "The topic to measure. Use the same on both sides." };
        topic.Validators.Add(Bounds.CheckTopics);
        return topic;
    }

    public static Option<bool> Json() => new("--json") { Description = "Print one JSON object at the end instead of a table." };

    public static Option<int> Size(int defaultBytes) => new Option<int>("--size")
    {
        Description = "The size of a payload in bytes.",
        HelpName = "BYTES",
        DefaultValueFactory = _ => defaultBytes,
    }.Within(PerfMessage.MinBytes, PerfMessage.MaxBytes);

    public static Option<double> Seconds() => new Option<double>("--seconds")
    {
        Description = "How long to send.",
        HelpName = "S",
        DefaultValueFactory = _ => 10,
    }.Within(0.1, 86_400);

    public static Option<double?> Rate(string description) =>
        new Option<double?>("--rate") { Description = description, HelpName = "MSGS" }.Within(0.001, 1e9);

    public static Option<string?> Beside(string description)
    {
        var beside = new Option<string?>("--beside") { Description = description, HelpName = "TOPIC" };
        beside.Validators.Add(Bounds.CheckTopics);
        return beside;
    }

    public static Option<int> Topics() => new Option<int>("--topics")
    {
        Description = "The number of topics to send to in turn: TOPIC/0, TOPIC/1 and so on.",
        HelpName = "K",
        DefaultValueFactory = _ => 1,
    }.Within(1, 65_536);
}
