using System.Globalization;
using System.Text.RegularExpressions;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Campaigns.Servers;

// One life of a `qsm gms`, by its log. Times are ticks of the machine; 0: not yet.
internal sealed partial class Server : LoggedProcess
{
    private readonly object _lock = new();
    private readonly List<Configuration> _configurations = [];
    private bool _leads;
    private long _ledAt;
    private long _servedAt;
    private long _configuredAt;
    private int _nodes;
    private int _removals;
    private long _deposedAt;
    private bool _isListening;

    public Server(NetworkNamespaces network, int node, string security, params IEnumerable<string> arguments)
        : this(network, node, security, [], arguments)
    {
    }

    /// <param name="network">The namespaces.</param>
    /// <param name="node">In which of them it runs.</param>
    /// <param name="security">The file of its secret.</param>
    /// <param name="variables">Of its environment, each as NAME=VALUE.</param>
    /// <param name="arguments">Further ones.</param>
    public Server(
        NetworkNamespaces network, int node, string security, IEnumerable<string> variables, IEnumerable<string> arguments)
        : base(network, node, Programs.Qsm, variables, ["gms", "--verbose", "--security", security, .. arguments]) => BeginReading();

    /// <summary>A configuration that this server made: when, and of how many nodes.</summary>
    internal readonly record struct Configuration(long Number, long At);

    /// <summary>Whether it leads, as far as it knows itself.</summary>
    public bool Leads => Read(() => _leads);

    public bool IsListening => Read(() => _isListening);

    /// <summary>When it said that it leads.</summary>
    public long LedAt => Read(() => _ledAt);

    /// <summary>When it took the first node in, since it leads.</summary>
    public long ServedAt => Read(() => _servedAt);

    /// <summary>When it made its first configuration, since it leads.</summary>
    public long ConfiguredAt => Read(() => _configuredAt);

    /// <summary>When it last said that it leads no more.</summary>
    public long DeposedAt => Read(() => _deposedAt);

    /// <summary>Of its last configuration.</summary>
    public int Nodes => Read(() => _nodes);

    /// <summary>Nodes that it has removed.</summary>
    public int Removals => Read(() => _removals);

    public IReadOnlyList<Configuration> Configurations => Read(() => _configurations.ToArray());

    protected override void OnError(string line, long at)
    {
        lock (_lock)
        {
            if (ConfigurationLine().Match(line) is { Success: true } made)
            {
                _configurations.Add(new(long.Parse(made.Groups[1].Value, CultureInfo.InvariantCulture), at));
                _nodes = int.Parse(made.Groups[2].Value, CultureInfo.InvariantCulture);
                _configuredAt = _configuredAt == 0 ? at : _configuredAt;
            }
            else if (line.Contains("This server leads", StringComparison.Ordinal))
            {
                (_leads, _ledAt, _servedAt, _configuredAt, _nodes) = (true, at, 0, 0, 0);
            }
            else if (line.Contains("does not lead any more", StringComparison.Ordinal))
            {
                (_leads, _deposedAt) = (false, at);
            }
            else if (line.Contains(" joined with ", StringComparison.Ordinal))
            {
                _servedAt = _servedAt == 0 ? at : _servedAt;
            }
            else if (line.Contains(" is removed: ", StringComparison.Ordinal))
            {
                _removals++;
            }
            else if (line.StartsWith("listening ", StringComparison.Ordinal))
            {
                _isListening = true;
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

    [GeneratedRegex(@"Configuration (\d+): (\d+) nodes")]
    private static partial Regex ConfigurationLine();
}
