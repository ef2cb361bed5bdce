using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using QuickSilver.Campaign.Contenders.Testbeds;

namespace QuickSilver.Campaign.Contenders;

internal enum Watcher
{
    /// <summary>qsm top, into a pipe.</summary>
    Top,

    /// <summary>qsm top, on a pseudo-terminal.</summary>
    TopOnTerminal,

    /// <summary>qsm dashboard, without an open page.</summary>
    Dashboard,

    /// <summary>qsm dashboard, with a page's events open.</summary>
    OpenDashboard,
}

// What a program costs that watches a cluster, on the sender's machine, while the cluster moves messages at a given rate.
internal sealed class WatchContender(ITestbed testbed, string name, Watcher watcher, double messagesPerSecond) : IContender
{
    // The load's own warm-up, and the watching program's start: it compiles what it repeats.
    private static readonly TimeSpan Settling = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(30);

    // The load outlasts the watching.
    private const int MarginSeconds = 15;
    private const string Listening = "listening ";

    private string WatchCommand(string node) => watcher switch
    {
        Watcher.Top => $"qsm top --interface {node} --security none",
        Watcher.TopOnTerminal => $"script -qec 'stty rows 50 cols 180; qsm top --interface {node} --security none' /dev/null",
        _ => $"qsm dashboard --interface {node} --security none --listen 127.0.0.1:0",
    };

    public string Name => name;

    public bool IsOwn => true;

    public string Command(Load load, int seconds) =>
        $"{WatchCommand("ADDRESS")}\n"
        + (watcher == Watcher.OpenDashboard ? "    curl -sN URL/events\n" : "")
        + $"    qsm perf send TOPIC {string.Join(' ', SenderOptions(load, seconds))}\n    {load.Receivers} × qsm perf receive TOPIC --json";

    public Measurement Run(Load load, int seconds)
    {
        try
        {
            return testbed.Up(load.Receivers) is { } failure ? Measurement.Failed(failure) : RunUp(load, seconds);
        }
        finally
        {
            testbed.Down();
        }
    }

    private Measurement RunUp(Load load, int seconds)
    {
        string topic = Qsm.NewTopic();
        var limit = TimeSpan.FromSeconds(seconds + MarginSeconds) + Qsm.Overhead;
        var receivers = new List<Shell>();
        try
        {
            receivers.AddRange(Enumerable.Range(2, load.Receivers)
                .Select(node => Qsm.Start(testbed, node, "receive", topic, "--json")));
            using var sender = Qsm.Start(testbed, 1, "send", topic, SenderOptions(load, seconds));
            Thread.Sleep(Settling / 2);
            double percent = Watch(seconds, out string? failure);
            bool isLoaded = sender.IsRunning;
            var sent = sender.Wait(limit);
            var received = receivers.ConvertAll(receiver => receiver.Wait(sent.Code == 0 ? limit : TimeSpan.Zero));
            return received.Prepend(sent).FirstOrDefault(process => process.Code != 0) is { } failed
                ? Measurement.Failed($"the load: {failed.Reason}")
                : failure is not null ? Measurement.Failed(failure)
                : !isLoaded ? Measurement.Failed("the load ended before the watching")
                : Read(percent, received);
        }
        finally
        {
            receivers.ForEach(receiver => receiver.Dispose());
        }
    }

    private double Watch(int seconds, out string? failure)
    {
        using var watching = Start();
        Shell? page = null;
        failure = null;
        try
        {
            if (watcher is Watcher.Dashboard or Watcher.OpenDashboard
                && OpenPage(watching, out page) is { } fault)
            {
                failure = fault;
                return double.NaN;
            }

            Thread.Sleep(Settling / 2);
            double before = ProcessTree.CpuSeconds(watching.Id);
            long start = Stopwatch.GetTimestamp();
            Thread.Sleep(TimeSpan.FromSeconds(seconds));
            double used = ProcessTree.CpuSeconds(watching.Id) - before;
            failure = watching.IsRunning && page is not { IsRunning: false } ? null : "the watching program ended";
            return used / Stopwatch.GetElapsedTime(start).TotalSeconds * 100;
        }
        finally
        {
            page?.Dispose();
        }
    }

    private Shell Start()
    {
        string[] words = WatchCommand(testbed.Address(1)).Replace("qsm ", $"{Qsm.Executable} ", StringComparison.Ordinal).Split('\'');
        return testbed.Start(1, words.Length == 1
            ? words[0].Split(' ')
            : [.. words[0].Trim().Split(' '), words[1], words[2].Trim()]);
    }

    private string? OpenPage(Shell dashboard, out Shell? page)
    {
        page = null;
        if (dashboard.WaitForError(Listening, StartLimit) is not { } line)
        {
            return "the dashboard does not listen";
        }

        page = watcher == Watcher.OpenDashboard
            ? testbed.Start(1, ["curl", "-sN", $"{line.Text[Listening.Length..].TrimEnd('/')}/events"])
            : null;
        return null;
    }

    private IEnumerable<string> SenderOptions(Load load, int seconds) =>
    [
        "--size", $"{load.Bytes}", "--seconds", $"{seconds + MarginSeconds}", "--receivers", $"{load.Receivers}",
        "--rate", messagesPerSecond.ToString("F0", CultureInfo.InvariantCulture),
    ];

    private static Measurement Read(double percent, List<Ended> received)
    {
        var reports = received.ConvertAll(process => JsonDocument.Parse(process.Output).RootElement);
        return new Measurement
        {
            CorePercent = percent,
            MessagesPerSecond = reports.Min(report => report.GetProperty("messagesPerSecond").GetDouble()),
            Lost = reports.Sum(report => report.GetProperty("gaps").GetInt64() + report.GetProperty("duplicates").GetInt64()),
        };
    }
}
