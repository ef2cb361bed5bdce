using QuickSilver.Endpoints.Changes;

namespace QuickSilver.RequestReply.Pending;

// A request that ends when each node that was asked has answered, failed or left.
internal sealed class PendingAskAll<TRequest, TReply>(IRequesterCore<TRequest> requester, TRequest request, long id, TimeSpan timeout)
    : PendingRequest<TRequest, TReply, IReadOnlyList<Reply<TReply>>>(requester, request, id, timeout)
{
    // Those that joined after the request was made and got it too, at most.
    private const int MaxOthers = 1024;

    // By place in the set of the nodes that were asked; null: nothing yet.
    private Reply<TReply>?[] _replies = [];
    private readonly List<Reply<TReply>> _others = [];
    private int _missing;

    public override void OnReply(NodeId responder, TReply reply) => Take(ReplyOf(responder, reply, null));

    public override void OnFailure(NodeId responder, ResponderFailedException failure) =>
        Take(ReplyOf(responder, default, failure));

    protected override void OnAsked()
    {
        _replies = new Reply<TReply>?[Asked.Count];
        _missing = Asked.Count;
    }

    protected override void OnDeadline(SubscriberSet current)
    {
        for (int i = 0; i < _replies.Length; i++)
        {
            var node = Asked.Nodes[i];
            _replies[i] ??= ReplyOf(node, default, current.Contains(node)
                ? new RequestTimeoutException(Requester.Name, Timeout, Requester.Named(node))
                : new ResponderLeftException(Requester.Name, Requester.Named(node)));
        }

        Complete();
    }

    protected override void OnLeft(SubscriberSet seen, SubscriberSet current)
    {
        for (int i = 0; i < _replies.Length; i++)
        {
            var node = Asked.Nodes[i];
            if (_replies[i] is null && !seen.Contains(node) && !current.Contains(node))
            {
                Take(ReplyOf(node, default, new ResponderLeftException(Requester.Name, Requester.Named(node))));
            }
        }
    }

    private Reply<TReply> ReplyOf(NodeId responder, TReply? value, RequestException? error) =>
        new(responder, value, error) { ResponderName = Requester.Named(responder).Name };

    private void Take(in Reply<TReply> reply)
    {
        int place = Asked.IndexOf(reply.Responder);
        if (place < 0)
        {
            if (_others.Count < MaxOthers)
            {
                _others.Add(reply);
            }
        }
        else if (_replies[place] is null)
        {
            _replies[place] = reply;
            if (--_missing == 0)
            {
                Complete();
            }
        }
    }

    private void Complete() => Succeed([.. _replies.Select(static reply => reply!.Value), .. _others]);
}
