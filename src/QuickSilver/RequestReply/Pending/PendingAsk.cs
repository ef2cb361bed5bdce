using QuickSilver.Endpoints.Changes;
using QuickSilver.Membership.Views;
using QuickSilver.Serialization;

namespace QuickSilver.RequestReply.Pending;

// A request that the first answer ends.
internal sealed class PendingAsk<TRequest, TReply>(IRequesterCore<TRequest> requester, TRequest request, long id, TimeSpan timeout)
    : PendingRequest<TRequest, TReply, TReply>(requester, request, id, timeout)
{
    // Null until one fails.
    private List<ResponderFailedException>? _failures;

    public override void OnReply(NodeId responder, TReply reply) => Succeed(reply);

    public override void OnFailure(NodeId responder, ResponderFailedException failure)
    {
        if (_failures is null || !_failures.Exists(known => known.Responder == responder))
        {
            (_failures ??= []).Add(failure);
        }

        foreach (var node in Asked.Nodes)
        {
            if (!HasFailed(node))
            {
                return;
            }
        }

        Fail(CauseOf(_failures[0]));
    }

    protected override void OnDeadline(SubscriberSet current)
    {
        if (_failures is not null)
        {
            Fail(CauseOf(_failures[0]));
            return;
        }

        var silent = new List<NamedNode>();
        foreach (var node in Asked.Nodes)
        {
            if (current.Contains(node))
            {
                silent.Add(Requester.Named(node));
            }
        }

        Fail(silent.Count > 0
            ? new RequestTimeoutException(Requester.Name, Timeout, silent)
            : new ResponderLeftException(Requester.Name, responder: null));
    }

    protected override void OnLeft(SubscriberSet seen, SubscriberSet current)
    {
        foreach (var node in Asked.Nodes)
        {
            if (!HasFailed(node) && (seen.Contains(node) || current.Contains(node)))
            {
                return;
            }
        }

        Fail(_failures is null ? new ResponderLeftException(Requester.Name, responder: null) : CauseOf(_failures[0]));
    }

    // Its inner exception is what the codec threw, if an answer came that cannot be decoded.
    private static Exception CauseOf(ResponderFailedException failure) =>
        failure.InnerException is { } decoding ? new PayloadFormatException(failure.Message, decoding) : failure;

    private bool HasFailed(NodeId node) => _failures is not null && _failures.Exists(failure => failure.Responder == node);
}
