using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Reachability;
using QuickSilver.Membership.Service.Failures;

namespace QuickSilver.Membership.Client;

// When no target of the service's inquiries answers the echoes of this node, the fault is probably its own. The node reports this in its
// log, and in its status for as long as it lasts.
internal sealed class ReachWatch(INodeEnvironment environment, IPEndPoint endPoint, FirewallAdvice advice, ILogger logger)
{
    // One inquiry without an answer may be chance, or a target that has just ended.
    private const int InquiriesUntilReported = 2;
    // Of two nodes that do not meet either may be at fault.
    private const int LeastTargets = 2;

    // Null while the machine has the address of this node.
    private volatile AddressLoss? _addressLoss;
    private volatile Trouble? _isolation;
    private DateTimeOffset _since;
    private int _unanswered;

    /// <summary>Why this node is cut off from datagrams, or seems to be; null while they pass. From any thread.</summary>
    public Trouble? Trouble => _addressLoss?.Trouble ?? _isolation;

    /// <summary>Looks whether the machine has the address of this node. True when it has been without it for too long.</summary>
    public bool IsAddressLostForGood(FailureDetectorOptions failures)
    {
        _addressLoss = AddressLoss.Look(_addressLoss, environment, failures, logger);
        return _addressLoss?.IsForGood(environment.Now) == true;
    }

    /// <summary>
    /// Answers an inquiry of the service. The service's own echo is the last of the targets, at the address to which its stream goes. On
    /// this node's own machine, that echo would show nothing of the network.
    /// </summary>
    public void Answer(InquiryMessage inquiry, ServiceLink link, IMembershipObserver observer)
    {
        if (inquiry.ClusterKey is { } key)
        {
            observer.OnClusterKey(key, isOfAnother: !link.IsWelcome);
        }

        var targets = inquiry.Targets;
        int members = targets.Length;
        var service = link.RemoteEndPoint;
        bool isBeside = service?.Address.Equals(endPoint.Address) == true;
        if (inquiry.ServicePort != 0 && service is not null && !isBeside)
        {
            targets = targets.Add(new IPEndPoint(service.Address, inquiry.ServicePort));
        }

        observer.OnInquiry(targets, TimeSpan.FromMilliseconds(inquiry.WaitMilliseconds), answered =>
        {
            ulong ofMembers = (1UL << members) - 1;
            var ofThem = new EchoesAnswered(answered.Any & ofMembers, answered.First & ofMembers);
            OnFound(answered.Any != 0, targets.Length, service);
            link.Send(new FindingsMessage(inquiry.Id, new Findings(ofThem, (answered.Any >> members) != 0, isBeside)));
        });
    }

    private void OnFound(bool isAnyReached, int targets, IPEndPoint? service)
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

        if (_unanswered == InquiriesUntilReported)
        {
            string where = service is null ? "" : $" at {service}";
            string isolation = $"TCP reaches the membership service{where}, but no datagram has come back from any of "
                + $"{Counted.Of(targets, "node")} probed since {_since:HH:mm:ss} UTC; {advice.For(endPoint)}";
            _isolation = new Trouble(
                TroubleKind.DatagramsLost, $"Datagrams to or from this node are lost: {isolation}.", _since, "an answer to its probes");
            logger.Isolated(isolation);
        }
    }

    /// <summary>The findings no longer hold: a datagram came back, or the members are others.</summary>
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
