using System.Diagnostics;
using QuickSilver.Diagnostics;
using QuickSilver.Endpoints.Changes;
using QuickSilver.Membership.Views;

namespace QuickSilver.RequestReply.Pending;

// A request that waits for answers: the task of its caller, and what is known of the nodes that were asked. It ends once, by whichever
// comes first: the answer, the deadline, the end of the nodes that were asked, the caller's token, or the end of the requester.
//
// Answers and ticks come on the core thread. The others come from any thread and only end it.
internal abstract class PendingRequest<TRequest, TReply, TResult>(
    IRequesterCore<TRequest> requester, TRequest request, long id, TimeSpan timeout)
    : TaskCompletionSource<TResult>(requester.Completions), IPendingRequest<TRequest, TReply>
{
    private readonly long _startedAt = requester.Time.GetTimestamp();
    private CancellationTokenRegistration _registration;
    private TRequest _request = request;
    private int _isSending;
    private volatile bool _isSent;
    private int _isOver;
    // The subscribers when one of the nodes that were asked was seen to be missing, and when that was.
    private SubscriberSet? _seen;
    private long _seenAt;

    public long Id { get; } = id;

    /// <summary>The activity of the request; null if nothing traces it.</summary>
    public Activity? Activity { private get; init; }

    /// <summary>The nodes that were asked; set before the request is sent.</summary>
    protected SubscriberSet Asked { get; private set; } = SubscriberSet.Empty;

    protected IRequesterCore<TRequest> Requester => requester;

    protected TimeSpan Timeout => timeout;

    /// <summary>From any thread, once, after the request has its place: the token ends it.</summary>
    public void EndWith(CancellationToken token)
    {
        if (!token.CanBeCanceled)
        {
            return;
        }

        _registration = token.UnsafeRegister(
            static (state, token) => ((PendingRequest<TRequest, TReply, TResult>)state!).Cancel(token), this);
        if (Volatile.Read(ref _isOver) != 0)
        {
            _registration.Unregister();
        }
    }

    /// <summary>From any thread: sends the request, if it was not sent.</summary>
    public void Send(SubscriberSet asked)
    {
        if (Interlocked.Exchange(ref _isSending, 1) != 0)
        {
            return;
        }

        Asked = asked;
        OnAsked();
        _isSent = true;
        var left = timeout - requester.Time.GetElapsedTime(_startedAt);
        var message = new RequestMessage<TRequest>(_request, Id, requester.Box, Math.Max(1, (int)left.TotalMilliseconds));
        _request = default!;
        if (Activity is null)
        {
            requester.Publish(message, this);
            return;
        }

        // The sending thread may be the core thread.
        var outer = System.Diagnostics.Activity.Current;
        System.Diagnostics.Activity.Current = Activity;
        requester.Publish(message, this);
        System.Diagnostics.Activity.Current = outer;
    }

    public void OnTick(long now, long knownAt, SubscriberSet current)
    {
        var age = requester.Time.GetElapsedTime(_startedAt, now);
        if (!_isSent)
        {
            if (current.Count > 0)
            {
                Send(current);
            }
            else
            {
                FailIfWaited(age, now, knownAt);
            }
        }
        else if (age >= timeout)
        {
            OnDeadline(current);
        }
        else if (_seen is not null || !ReferenceEquals(current, Asked))
        {
            LookForLeft(now, current);
        }
    }

    public bool MayAnswer(NodeId node, SubscriberSet current) =>
        _isSent && (Asked.Contains(node) || current.Contains(node) || _seen?.Contains(node) == true);

    public abstract void OnReply(NodeId responder, TReply reply);

    public abstract void OnFailure(NodeId responder, ResponderFailedException failure);

    public void Fail(Exception exception)
    {
        if (TryEnd())
        {
            EndAs(RequestFailure.Of(exception), exception);
            TrySetException(exception);
        }
    }

    protected void Succeed(TResult result)
    {
        if (TryEnd())
        {
            requester.CountAnswer();
            MessageTracing.EndRequest(Activity, RequestFailure.Answered, fault: null);
            TrySetResult(result);
        }
    }

    /// <summary>Called before the request is sent.</summary>
    protected virtual void OnAsked()
    {
    }

    /// <summary>Of the nodes that were asked, the ones that are not in the current set have left.</summary>
    protected abstract void OnDeadline(SubscriberSet current);

    /// <summary>A node that was asked and is neither in this set nor in the current one has left.</summary>
    protected abstract void OnLeft(SubscriberSet seen, SubscriberSet current);

    // The wait for a responder begins when it is known who responds: the service may need longer to say so than the wait takes.
    private void FailIfWaited(TimeSpan age, long now, long knownAt)
    {
        bool isKnown = knownAt != 0;
        bool hasWaited = isKnown
            && requester.Time.GetElapsedTime(Math.Max(_startedAt, knownAt), now) >= requester.WaitForResponder;
        if (age >= timeout)
        {
            Fail(isKnown
                ? NoResponderException.AtDeadline(requester.Name, timeout, hasWaited)
                : NoResponderException.NotKnown(requester.Name, timeout));
        }
        else if (hasWaited)
        {
            Fail(new NoResponderException(requester.Name, requester.WaitForResponder));
        }
    }

    // A responder that leaves in good order has answered before. Its answers may arrive after the news that it has left.
    private void LookForLeft(long now, SubscriberSet current)
    {
        if (_seen is not null && requester.Time.GetElapsedTime(_seenAt, now) < IRequesterCore<TRequest>.LateAnswers)
        {
            return;
        }

        if (_seen is not null)
        {
            OnLeft(_seen, current);
        }

        (_seen, _seenAt) = (current, now);
    }

    private void Cancel(CancellationToken token)
    {
        if (TryEnd())
        {
            EndAs(RequestFailure.Cancelled, new OperationCanceledException(token));
            TrySetCanceled(token);
        }
    }

    private void EndAs(int kind, Exception fault)
    {
        requester.CountFailure(kind);
        MessageTracing.EndRequest(Activity, RequestFailure.Kinds[kind], fault);
    }

    private bool TryEnd()
    {
        if (Interlocked.Exchange(ref _isOver, 1) != 0)
        {
            return false;
        }

        requester.Return(Id);
        _registration.Unregister();
        return true;
    }
}

internal interface IPendingRequest<TRequest, TReply> : IFailable
{
    long Id { get; }

    /// <summary>Whether the request was sent to the node: it was asked, or responds since.</summary>
    bool MayAnswer(NodeId node, SubscriberSet current);

    void OnReply(NodeId responder, TReply reply);

    void OnFailure(NodeId responder, ResponderFailedException failure);

    /// <summary>Called again and again until the request is over.</summary>
    /// <param name="now">The present time stamp.</param>
    /// <param name="knownAt">Since when it is known who responds; 0: it is not known.</param>
    /// <param name="current">Those that respond.</param>
    void OnTick(long now, long knownAt, SubscriberSet current);
}

// What a request needs of its requester. From any thread.
internal interface IRequesterCore<TRequest>
{
    /// <summary>How long the answer of a responder may arrive after the news that it has left.</summary>
    static readonly TimeSpan LateAnswers = TimeSpan.FromMilliseconds(250);

    string Name { get; }

    /// <summary>A node as a person reads it.</summary>
    NamedNode Named(NodeId node) => new(new NodeKey(node.Id, node.Incarnation), "");

    int Box { get; }

    TimeSpan WaitForResponder { get; }

    TimeProvider Time { get; }

    TaskCreationOptions Completions { get; }

    /// <summary>Sends the message, and fails the request if that is impossible.</summary>
    void Publish(in RequestMessage<TRequest> message, IFailable request);

    /// <summary>Returns the place of a request that has ended.</summary>
    void Return(long id);

    void CountAnswer();

    /// <param name="kind">A place among the kinds of <see cref="RequestFailure"/>.</param>
    void CountFailure(int kind);
}

internal interface IFailable
{
    void Fail(Exception exception);
}
