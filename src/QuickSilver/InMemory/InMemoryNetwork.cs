using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Core.Diagnostics;
using QuickSilver.InMemory;

namespace QuickSilver;

/// <summary>
/// A network within this process, for tests: its nodes exchange messages in memory, without a socket, a port or a membership service.
/// Topics, handlers, consumers, readers, requests and states are those of any node, and so are contracts, which are checked. Nothing is
/// lost, and a node is removed only when it is disposed. Thread-safe.
/// </summary>
/// <remarks>
/// It is not for production: there is no other process, and no fault. To test faults, use the package QuickSilver.Simulation.
/// </remarks>
public sealed class InMemoryNetwork
{
    private readonly Lock _lock = new();
    private readonly Dictionary<string, InMemoryCluster> _clusters = new(StringComparer.Ordinal);

    /// <summary>
    /// Starts a node. It meets the nodes of this network whose <see cref="QuickSilverOptions.Cluster"/> is the same, at once.
    /// </summary>
    /// <param name="options">
    /// The options. Those about the network and about the membership service have no effect. Null: the defaults.
    /// </param>
    /// <param name="loggerFactory">The logger factory. Null: no logging.</param>
    /// <param name="cancellationToken">Cancels the start.</param>
    /// <exception cref="QuickSilverOptionsException">An option is invalid.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the start.</exception>
    public Task<QuickSilverNode> StartNodeAsync(
        QuickSilverOptions? options = null, ILoggerFactory? loggerFactory = null, CancellationToken cancellationToken = default)
    {
        var own = options?.Copy() ?? new QuickSilverOptions();
        OptionRules.Check(own);
        cancellationToken.ThrowIfCancellationRequested();
        var logs = GuardedLoggers.Of(loggerFactory ?? NullLoggerFactory.Instance);
        return QuickSilverNode.StartAsync(new InMemoryParts(ClusterOf(own.Cluster), own, logs), own, logs, cancellationToken);
    }

    private InMemoryCluster ClusterOf(string name)
    {
        lock (_lock)
        {
            return _clusters.TryGetValue(name, out var known) ? known : _clusters[name] = new InMemoryCluster();
        }
    }
}
