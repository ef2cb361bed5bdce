using System.Diagnostics;
using Microsoft.Extensions.Logging;

namespace QuickSilver.Simulation.Hosts;

// The node of a simulated process in place of one that the host starts. The process has it before its host, and ends with it: when the
// membership service has removed it, the simulation restarts the process, and the host waits for its end.
internal sealed class GivenNode(SimulatedNode owner, QuickSilverNode node, SimulatedCluster cluster)
{
    private bool _isGiven;

    public async Task<QuickSilverNode> StartAsync(QuickSilverOptions options, ILoggerFactory logs, CancellationToken cancellationToken)
    {
        if (!_isGiven)
        {
            _isGiven = true;
            return node;
        }

        if (!node.Expulsion.IsCompleted)
        {
            cluster.Fail($"The host of {owner}", new NotSupportedException(
                "The host has more than one node, but a simulated process has one. Add nodes with keys in other processes."));
        }

        await Task.Delay(Timeout.InfiniteTimeSpan, owner.Time, cancellationToken);
        throw new UnreachableException();
    }
}
