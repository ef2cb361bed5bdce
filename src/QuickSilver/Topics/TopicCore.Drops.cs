using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;
using QuickSilver.Membership.Contracts;

namespace QuickSilver.Topics;

// Endpoints that the topic goes on without, because they hold it up or are refused.
internal sealed partial class TopicCore
{
    public override void OnReaderTooSlow(TopicEndpoint endpoint)
    {
        if (Array.IndexOf(_subscribers, endpoint) < 0)
        {
            return;
        }

        var limit = endpoint.Watch!.Limit;
        ApiLog.ReaderTooSlow(Node.Log, Name, limit);
        var untaken = Untaken(GapReason.ReaderTooSlow);
        CountLost(untaken);
        Drop(endpoint, new SlowReaderException(Name, limit), untaken);
    }

    public override void OnHandlerTooSlow(TopicEndpoint endpoint, SlowHandlerException failure)
    {
        if (Array.IndexOf(_subscribers, endpoint) >= 0)
        {
            ApiLog.HandlerTooSlow(Node.Log, failure);
            Drop(endpoint, failure, []);
        }
    }

    /// <summary>
    /// Called when the service withdraws an access that it granted: another contract is registered under the topic's name, or the service
    /// that the node came to has other rules of access.
    /// </summary>
    public void OnRefused(string refusal, string? deniedTo)
    {
        ApiLog.TopicRefused(Node.Log, Name, refusal);
        var failure = FailureOf(refusal, deniedTo);
        var untaken = Untaken(deniedTo is null ? GapReason.ContractMismatch : GapReason.AccessDenied);
        CountLost(untaken);
        _granted = TopicRole.None;
        foreach (var endpoint in _endpoints)
        {
            Drop(endpoint, failure, Array.IndexOf(_subscribers, endpoint) < 0 ? [] : untaken);
        }
    }

    private QuickSilverException FailureOf(string refusal, string? deniedTo) =>
        deniedTo is { } identity ? new TopicAccessDeniedException(Name, identity, refusal) : ContractMismatchException.Of(refusal);

    private GapNotice[] Untaken(GapReason reason) =>
    [
        .. (_receiver?.Untaken() ?? []).Select(range => Departures.GapOf(range, reason)),
    ];

    // Reports the messages that the endpoint will not take any more as gaps, and then ends the endpoint.
    private void Drop(TopicEndpoint endpoint, Exception failure, GapNotice[] untaken)
    {
        foreach (var gap in untaken)
        {
            endpoint.AcceptGap(gap);
        }

        endpoint.OnFailed(failure);
        Leave(endpoint);
    }

    public override GapNotice[] UntakenOf(TopicEndpoint endpoint) =>
        Array.IndexOf(_subscribers, endpoint) < 0 ? [] : Untaken(GapReason.SubscriberEnded);
}
