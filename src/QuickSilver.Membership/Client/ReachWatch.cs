using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Reachability;

namespace QuickSilver.Membership.Client;

// A node that no echo comes back to, from anyone whom the service asked it to try, knows that the fault is probably its own, and says
// so: in its log, and in its status for as long as it lasts.
internal sealed class ReachWatch(INodeEnvironment environment, IPEndPoint endPoint, ReachAdvice advice, ILogger logger)
{
    // One inquiry without an answer may be chance, or a target that has just ended.
    private const int InquiriesUntilTold = 2;
    // Of two nodes that do not meet either may be at fault.
    private const int LeastTargets = 2;

    private volatile Trouble? _isolation;
    private DateTimeOffset _since;
    private int _unanswered;

    /// <summary>Null while datagrams pass. From any thread.</summary>
    public Trouble? Isolation => _isolation;

    public void OnFound(bool isAnyReached, int targets, IPEndPoint? service)
    {
        if (isAnyReached)
        {
            Forget();
            return;
        }

        if (targets < LeastTargets)
        {
            return;
        }

        if (_unanswered++ == 0)
        {
            _since = environment.UtcNow;
        }

        if (_unanswered == InquiriesUntilTold)
        {
            string where = service is null ? "" : $" at {service}";
            string isolation = $"TCP reaches the membership service{where}, but no datagram has come back from any of "
                + $"{Counted.Of(targets, "node")} probed since {_since:HH:mm:ss} UTC; {advice.For(endPoint)}";
            _isolation = new Trouble(
                TroubleKind.DatagramsLost, $"Datagrams to or from this node are lost: {isolation}.", _since, "an answer to its probes");
            logger.Isolated(isolation);
        }
    }

    /// <summary>What was found holds no more: a datagram came back, or the members are others.</summary>
    public void Forget()
    {
        _unanswered = 0;
        if (_isolation is not null)
        {
            _isolation = null;
            logger.IsolationEnded();
        }
    }
}
