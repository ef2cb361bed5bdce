using System.Globalization;
using System.Text.Json;

namespace QuickSilver.Campaign.Contenders;

// QuickSilver as its user has it: `qsm perf` in the same namespaces as the peers, its membership embedded.
internal sealed class OwnContender(DirectoryInfo? peers) : IContender
{
    public const string OwnName = "quicksilver";
    private static readonly TimeSpan Overhead = TimeSpan.FromSeconds(60);

    // Beside this program's own output, under the same configuration.
    private readonly string _qsm = Path.GetFullPath(Path.Combine(
        AppContext.BaseDirectory, "..", "..", "qsm", new DirectoryInfo(AppContext.BaseDirectory).Name, "qsm"));
    private int _runs;

    public string Name => OwnName;

    public bool TryPrepare(out string? missing)
    {
        missing = File.Exists(_qsm) ? null : $"{_qsm} is not built.";
        return missing is null;
    }

    public string Command(Load load, int seconds) =>
        $"qsm perf send TOPIC --size {load.Bytes} --seconds {seconds} --receivers {load.Receivers} --json "
        + $"({load.Receivers} × qsm perf receive TOPIC --json)";

    public Measurement Run(Load load, int seconds)
    {
        if (peers is not null)
        {
            using var namespaces = new Shell(
                Path.Combine(peers.FullName, "netns.sh"), "up", (load.Receivers + 1).ToString(CultureInfo.InvariantCulture));
            var (code, _, errors) = namespaces.Wait(Overhead);
            if (code != 0)
            {
                return Measurement.Failed($"netns.sh: {errors.Trim()}");
            }
        }

        string topic = $"campaign-{Environment.ProcessId}-{++_runs}";
        var receivers = Enumerable.Range(2, load.Receivers).Select(node => Qsm(node, "receive", topic)).ToList();
        try
        {
            using var sender = Qsm(
                1, "send", topic, "--size", $"{load.Bytes}", "--seconds", $"{seconds}", "--receivers", $"{load.Receivers}");
            var limit = TimeSpan.FromSeconds(seconds) + Overhead;
            var sent = sender.Wait(limit);
            var received = receivers.ConvertAll(receiver => receiver.Wait(limit));
            if (received.Append(sent).FirstOrDefault(process => process.Code != 0) is { Errors: not null } failed)
            {
                return Measurement.Failed($"exit {failed.Code}: {failed.Errors.Trim().Split('\n')[^1]}");
            }

            var reports = received.ConvertAll(process => JsonDocument.Parse(process.Output).RootElement);
            return new Measurement(
                reports.Min(report => report.GetProperty("messagesPerSecond").GetDouble()),
                reports.Sum(report => report.GetProperty("gaps").GetInt64() + report.GetProperty("duplicates").GetInt64()));
        }
        finally
        {
            receivers.ForEach(receiver => receiver.Dispose());
        }
    }

    private Shell Qsm(int node, string role, string topic, params string[] more) => new(
        "ip", ["netns", "exec", $"n{node}", _qsm, "perf", role, topic, "--interface", $"10.77.0.{node}", "--json", .. more]);
}
