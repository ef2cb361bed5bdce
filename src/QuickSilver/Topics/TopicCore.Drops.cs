using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;
using QuickSilver.Membership.Contracts;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Topics;

// Endpoints without which the topic continues, because they hold it up or are refused.
internal sealed partial class TopicCore
{
    /// <summary>What this node has opened the topic with. A topic that is refused is open elsewhere with another contract.</summary>
    public ContractDescription Contract { get; }

    public override void OnReaderTooSlow(TopicEndpoint endpoint)
    {
        if (Array.IndexOf(_subscribers, endpoint) < 0)
        {
            return;
        }

        var limit = endpoint.Subscription!.Watch!.Limit;
        ApiLog.ReaderTooSlow(Node.Log, Name, limit);
        var untaken = GapsFor(endpoint, GapReason.ReaderTooSlow);
        CountLost(untaken);
        Drop(endpoint, new SlowReaderException(Name, limit), untaken);
    }

    public override void OnHandlerTooSlow(TopicEndpoint endpoint, SlowHandlerException failure)
    {
        if (Array.IndexOf(_subscribers, endpoint) >= 0)
        {
            ApiLog.HandlerTooSlow(Node.Log, failure);
            endpoint.Subscription!.OnHandedOver(UntakenOf(endpoint));
            Drop(endpoint, failure, []);
        }
    }

    /// <summary>
    /// Called when the service withdraws an access that it granted: another contract is registered under the topic's name, or the service
    /// that the node came to has other rules of access.
    /// </summary>
    public void OnRefused(string refusal, string? deniedTo)
    {
        Node.Refusals.OnRefused(Node.Log, Id, Name, refusal);
        var failure = FailureOf(refusal, deniedTo);
        var reason = deniedTo is null ? GapReason.ContractMismatch : GapReason.AccessDenied;
        var dropped = _endpoints.Select(endpoint => (Endpoint: endpoint, Untaken: GapsFor(endpoint, reason))).ToArray();
        CountLost(dropped.Select(static one => one.Untaken).MaxBy(static gaps => gaps.Sum(static gap => gap.Count)) ?? []);
        _grant.Withdraw();
        foreach (var (endpoint, untaken) in dropped)
        {
            Drop(endpoint, failure, untaken);
        }
    }

    private QuickSilverException FailureOf(string refusal, string? deniedTo) =>
        deniedTo is { } identity ? new TopicAccessDeniedException(Name, identity, refusal) : new ContractMismatchException(Name, refusal);

    // What has come and was not taken, without that which this endpoint never gets.
    private UntakenRange[] UntakenFor(TopicEndpoint endpoint) =>
    [
        .. (_receiver?.Untaken() ?? []).Where(range => !(endpoint.Subscription!.SkipsOwn && Node.IsSelf(range.Sender))),
    ];

    private GapNotice[] GapsFor(TopicEndpoint endpoint, GapReason reason) => Array.IndexOf(_subscribers, endpoint) < 0
        ? []
        : [.. UntakenFor(endpoint).Select(range => Departures.GapOf(range, reason))];

    // Reports the messages that the endpoint will not take any more as gaps, and then ends the endpoint.
    private void Drop(TopicEndpoint endpoint, Exception failure, GapNotice[] untaken)
    {
        foreach (var gap in untaken)
        {
            endpoint.Subscription!.AcceptGap(gap);
        }

        endpoint.OnFailed(failure);
        Leave(endpoint);
    }

    public override GapNotice[] UntakenOf(TopicEndpoint endpoint) => GapsFor(endpoint, GapReason.SubscriberEnded);
}
