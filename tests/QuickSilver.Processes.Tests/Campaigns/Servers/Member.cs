using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using System.Text.RegularExpressions;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Campaigns.Servers;

/// <summary>Nothing came to a receiver of a steady stream for so long; the end is in ticks of the machine.</summary>
internal readonly record struct Silence(string Receiver, int Stayer, double Milliseconds, long End)
{
    public long Begin => End - (long)(Milliseconds / 1000 * Stopwatch.Frequency);

    /// <summary>Whether any of it lies between these.</summary>
    public bool Touches(long from, long to) => End > from && Begin < to;
}

// A node of the campaign: one that stays, or one that joins and leaves.
internal sealed partial class Member : LoggedProcess
{
    private readonly object _lock = new();
    private readonly List<Silence> _silences = [];
    private readonly List<Silence> _standstills = [];
    private readonly List<string> _stalls = [];
    private readonly List<long> _configurations = [];
    private readonly string _name;
    private bool _isReady;
    private long? _sent;
    private JsonElement? _report;
    private string? _removal;

    public Member(NetworkNamespaces network, int node, params IEnumerable<string> arguments)
        : base(network, node, Programs.ChurnNode, arguments)
    {
        _name = $"node {node}";
        BeginReading();
    }

    public bool IsReady => Read(() => _isReady);

    /// <summary>How many it published; null until it has stopped.</summary>
    public long? Sent => Read(() => _sent);

    public JsonElement? Report => Read(() => _report);

    /// <summary>What it said when it was removed; null: it was not.</summary>
    public string? Removal => Read(() => _removal);

    public IReadOnlyList<Silence> Silences => Read(() => _silences.ToArray());

    /// <summary>The configurations in which it has found itself, in this order. It looks many times a second, and may miss some.</summary>
    public IReadOnlyList<long> Configurations => Read(() => _configurations.ToArray());

    /// <summary>When this process stood still as a whole, as it reported itself: for its collector, its compiler, or the machine.</summary>
    public IReadOnlyList<Silence> Standstills => Read(() => _standstills.ToArray());

    /// <summary>What it has said since this was last asked of streams that have stopped.</summary>
    public IReadOnlyList<string> TakeStalls() => Read(() =>
    {
        string[] stalls = [.. _stalls];
        _stalls.Clear();
        return stalls;
    });

    protected override void OnOutput(string line, long at)
    {
        string[] words = line.Split(' ');
        lock (_lock)
        {
            switch (words[0])
            {
                case "ready":
                    _isReady = true;
                    break;
                case "pause":
                    _silences.Add(new Silence(
                        _name,
                        int.Parse(words[1], CultureInfo.InvariantCulture),
                        double.Parse(words[2], CultureInfo.InvariantCulture),
                        long.Parse(words[3], CultureInfo.InvariantCulture)));
                    break;
                case "configuration":
                    _configurations.Add(long.Parse(words[1], CultureInfo.InvariantCulture));
                    break;
                case "stalled":
                    _stalls.Add(line);
                    break;
                case "sent":
                    _sent = long.Parse(words[1], CultureInfo.InvariantCulture);
                    break;
                case "report":
                    _report = JsonDocument.Parse(line["report ".Length..]).RootElement;
                    break;
            }
        }
    }

    protected override void OnError(string line, long at)
    {
        if (line.Contains("service removed this node", StringComparison.Ordinal))
        {
            lock (_lock)
            {
                _removal ??= line;
            }
        }
        else if (StandstillLine().Match(line) is { Success: true } told)
        {
            lock (_lock)
            {
                double milliseconds = double.Parse(told.Groups[1].Value, CultureInfo.InvariantCulture);
                _standstills.Add(new Silence($"{_name} stood still: {told.Groups[2].Value}", 0, milliseconds, at));
            }
        }
    }

    private T Read<T>(Func<T> get)
    {
        lock (_lock)
        {
            return get();
        }
    }

    [GeneratedRegex(@"This node stood still for ([\d.]+) ms \((.+?)\)")]
    private static partial Regex StandstillLine();
}
