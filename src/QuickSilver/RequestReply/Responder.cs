using System.Diagnostics;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;
using QuickSilver.Endpoints.Consumers;
using QuickSilver.Inboxes;
using QuickSilver.Serialization;

namespace QuickSilver.RequestReply;

// The other side of request and reply: a consumer of the topic of requests. A handler that completes at once is called by the consumer's
// intake, one request after the other, without an allocation. One that waits is left to complete by itself, while the intake continues with
// the next request, until as many wait as are allowed.
//
// The activity of a request covers its handler and the sending of its answer. The endpoint's own ends when the consumer has returned, so
// the responder has one in its place.
internal sealed class Responder<TRequest, TReply> : IResponder
{
    private static readonly TimeSpan DisposeLimit = TimeSpan.FromSeconds(1);

    private readonly TopicEndpoint<RequestMessage<TRequest>> _endpoint;
    private readonly InboxRoutes _routes;
    private readonly IPayloadCodec<TReply> _codec;
    private readonly Func<Message<TRequest>, CancellationToken, ValueTask<TReply>> _handler;
    private readonly UndecodableRequests _undecodable;
    private readonly int _concurrency;
    private readonly CancellationTokenSource _cancellation = new();
    private readonly CancellationToken _token;
    // One of the two, and the other is null.
    private readonly Consumption<RequestMessage<TRequest>>? _consumption;
    private readonly IDisposable? _inline;
    private readonly TaskCompletionSource<SubscriptionEnd> _completion;
    private readonly Lock _lock = new();
    private int _waiting;
    // 1 while a handler runs that has not returned its task: there is one intake, so there is one at most.
    private int _calling;
    // The intake, while it waits for a handler to complete.
    private TaskCompletionSource? _room;
    // Set when it is disposed, which gives its handlers time. Whatever else ends it, such as its node, does not.
    private volatile bool _isDisposing;
    private bool _isCancelled;
    // Set when the intake has ended. Handlers may still wait.
    private SubscriptionEnd? _end;
    private long _answered;
    private long _failed;
    // Of them, those that are logged as such: no faults.
    private long _threw;
    private long _expired;
    private long _unsentFaults;

    public Responder(
        TopicEndpoint<RequestMessage<TRequest>> endpoint,
        InboxRoutes routes,
        IPayloadCodec<TReply> codec,
        Func<Message<TRequest>, CancellationToken, ValueTask<TReply>> handler,
        UndecodableRequests undecodable,
        ResponderOptions options)
    {
        _endpoint = endpoint;
        _routes = routes;
        _codec = codec;
        _handler = handler;
        _undecodable = undecodable;
        _concurrency = options.Concurrency;
        _token = _cancellation.Token;
        _completion = new TaskCompletionSource<SubscriptionEnd>(endpoint.Topic.Node.Completions);
        endpoint.IsTracedByHandlers = true;
        if (options.Inline)
        {
            _inline = endpoint.SubscribeInline(OnRequestInline, onGap: null, OnEnded);
        }
        else
        {
            var consumer = new ConsumerOptions<RequestMessage<TRequest>> { OnEnded = OnEnded };
            _consumption = (Consumption<RequestMessage<TRequest>>)endpoint.Subscribe(OnRequest, consumer);
        }
    }

    public string Name => _endpoint.Name;

    public long Answered => Volatile.Read(ref _answered);

    public long Failed => Volatile.Read(ref _failed) + _undecodable.Count;

    public long Expired => Volatile.Read(ref _expired);

    public Task<SubscriptionEnd> Completion => _completion.Task;

    private IEndpointNode Node => _endpoint.Topic.Node;

    public void Dispose() => _ = DisposeAsync().AsTask();

    public async ValueTask DisposeAsync()
    {
        _isDisposing = true;
        try
        {
            _inline?.Dispose();
            // Requesters give up on a responder that has left the topic, so it leaves when it has answered.
            _consumption?.StopTaking();
            if (_consumption is null)
            {
                OnEnded(new SubscriptionEnd(SubscriptionEndReason.Disposed, null));
            }

            if (!ConsumerCallScope.IsInside(_consumption))
            {
                await Completion.WaitAsync(DisposeLimit, Node.OutsideTime).ConfigureAwait(Node.ResumesInContext);
            }
        }
        catch (TimeoutException)
        {
            // Its task completes when the handler does, which may be never.
            _ = _consumption?.DisposeAsync();
        }

        CancelHandlers(own: ConsumerCallScope.IsInside(_consumption) ? 1 : 0);
        await _endpoint.DisposeAsync().ConfigureAwait(Node.ResumesInContext);
    }

    // Requests that were not taken from the buffer are reported by the endpoint. A handler that ends its own responder may still answer.
    private void CancelHandlers(int own = 0)
    {
        if (Interlocked.Exchange(ref _isCancelled, true))
        {
            return;
        }

        // An inline handler that is called now answers before the endpoint ends, or waits then.
        int calling = _inline is null ? Volatile.Read(ref _calling) : 0;
        int left = Volatile.Read(ref _waiting) + calling - own;
        if (left > 0)
        {
            ApiLog.ResponderLeftRequests(Node.Log, Name, left);
        }

        // The token has callbacks of the application, which may block or throw.
        Node.Environment.RunBeside(new Cancellation(this));
    }

    private void OnEnded(SubscriptionEnd end)
    {
        bool isIdle;
        lock (_lock)
        {
            _end ??= end;
            isIdle = _waiting == 0;
        }

        if (!_isDisposing)
        {
            CancelHandlers();
        }

        if (isIdle)
        {
            _completion.TrySetResult(end);
        }
    }

    private ValueTask OnRequest(Message<RequestMessage<TRequest>> message, CancellationToken _) => Begin(message, isBusy: false);

    // Nothing can wait here: neither for a handler, nor for room to send an answer, which then is sent when there is room.
    private void OnRequestInline(in Message<RequestMessage<TRequest>> message) =>
        _ = Begin(message, isBusy: Volatile.Read(ref _waiting) >= _concurrency);

    private ValueTask Begin(in Message<RequestMessage<TRequest>> message, bool isBusy)
    {
        if (message.Origin.IsOnly(Name))
        {
            return Handle(message, isBusy, activity: null);
        }

        var outer = Activity.Current;
        var activity = MessageTracing.StartProcess(Name, message, Node.Names);
        try
        {
            return Handle(message, isBusy, activity);
        }
        finally
        {
            // The intake continues with other requests while the handler waits.
            Activity.Current = outer;
        }
    }

    private ValueTask Handle(in Message<RequestMessage<TRequest>> message, bool isBusy, Activity? activity)
    {
        var request = message.Value;
        var origin = new Origin(message.Sender, request.Box, request.Id, activity);
        if (isBusy)
        {
            return FailAsync(origin, new InvalidOperationException("The responder is busy: too many of its handlers wait."));
        }

        if (Node.OutsideTime.GetElapsedTime(request.ArrivedAt) > TimeSpan.FromMilliseconds(request.TimeoutMillis))
        {
            Interlocked.Increment(ref _expired);
            Interlocked.Increment(ref Node.CounterCells.RepliesExpired);
            return EndWith(default, origin, new TimeoutException("The deadline of the request passed before it was handled."));
        }

        ValueTask<TReply> answer;
        try
        {
            var asked = new Message<TRequest>(request.Value, message.Sender, message.Sequence) { Origin = message.Origin };
            answer = Call(asked);
            if (answer.IsCompletedSuccessfully)
            {
                return ReplyAsync(origin, answer.Result);
            }
        }
        catch (Exception exception)
        {
            return FailAsync(origin, exception);
        }

        return Enter(FinishAsync(origin, answer));
    }

    private ValueTask<TReply> Call(in Message<TRequest> asked)
    {
        Volatile.Write(ref _calling, 1);
        try
        {
            return _handler(asked, _token);
        }
        finally
        {
            Volatile.Write(ref _calling, 0);
        }
    }

    private async Task FinishAsync(Origin origin, ValueTask<TReply> answer)
    {
        try
        {
            var reply = await answer.ConfigureAwait(Node.ResumesInContext);
            await ReplyAsync(origin, reply).ConfigureAwait(Node.ResumesInContext);
        }
        catch (Exception exception)
        {
            await FailAsync(origin, exception).ConfigureAwait(Node.ResumesInContext);
        }
    }

    // The intake continues when there is room for another handler that waits.
    private ValueTask Enter(Task handling)
    {
        TaskCompletionSource? room = null;
        lock (_lock)
        {
            if (++_waiting >= _concurrency)
            {
                room = _room = new TaskCompletionSource(Node.Completions);
            }
        }

        _ = LeaveAsync(handling);
        return room is null ? default : new ValueTask(room.Task);
    }

    private async Task LeaveAsync(Task handling)
    {
        try
        {
            await handling.ConfigureAwait(Node.ResumesInContext);
        }
        finally
        {
            TaskCompletionSource? room;
            SubscriptionEnd? end;
            lock (_lock)
            {
                room = _room;
                _room = null;
                end = --_waiting == 0 ? _end : null;
            }

            room?.TrySetResult();
            if (end is { } last)
            {
                _completion.TrySetResult(last);
            }
        }
    }

    private ValueTask ReplyAsync(Origin origin, TReply reply)
    {
        ValueTask sent;
        try
        {
            sent = _routes.SendAsync(origin.Requester, ReplyLetter.Of(origin.Box, origin.Id, _codec, reply));
        }
        catch (ArgumentNullException) when (reply is null)
        {
            return FailAsync(origin, NullPayload.OfReply(Name));
        }
        catch (Exception exception)
        {
            // It cannot be encoded, or is too large.
            return FailAsync(origin, exception);
        }

        Interlocked.Increment(ref _answered);
        Interlocked.Increment(ref Node.CounterCells.Replies);
        return EndWith(sent, origin, fault: null);
    }

    private ValueTask FailAsync(Origin origin, Exception exception)
    {
        if (exception is OperationCanceledException && _token.IsCancellationRequested)
        {
            // The responder has ended, and its requesters are notified of that.
            return EndWith(default, origin, exception);
        }

        Interlocked.Increment(ref _failed);
        Interlocked.Increment(ref Node.CounterCells.RepliesFailed);
        if (exception is FaultException fault)
        {
            return EndWith(_routes.SendAsync(origin.Requester, LetterOf(origin, fault)), origin, exception);
        }

        long threw = Interlocked.Increment(ref _threw);
        if (RepeatedEvent.IsLogged(threw))
        {
            ApiLog.ResponderThrew(Node.Log, exception, Name, Node.Named(origin.Requester), threw);
        }

        return EndWith(
            _routes.SendAsync(origin.Requester, ReplyLetter.OfFailure(origin.Box, origin.Id, exception.Message)), origin, exception);
    }

    private ReadOnlyMemory<byte> LetterOf(in Origin origin, FaultException fault)
    {
        if (ReplyLetter.IsFaultReadBy(origin.Box))
        {
            try
            {
                return ReplyLetter.OfFault(origin.Box, origin.Id, fault.Encode(), fault.Message);
            }
            catch (Exception exception)
            {
                // A codec of the application may throw anything.
                long unsent = Interlocked.Increment(ref _unsentFaults);
                if (RepeatedEvent.IsLogged(unsent))
                {
                    ApiLog.FaultNotSent(Node.Log, exception, Name, Node.Named(origin.Requester), unsent);
                }
            }
        }

        return ReplyLetter.OfFailure(origin.Box, origin.Id, fault.Message);
    }

    // Ends the activity of the request when its answer is sent.
    private ValueTask EndWith(ValueTask sent, in Origin origin, Exception? fault)
    {
        if (origin.Activity is not { } activity)
        {
            return sent;
        }

        if (!sent.IsCompletedSuccessfully)
        {
            return new ValueTask(EndAsync(sent, activity, fault));
        }

        MessageTracing.EndAside(activity, fault);
        return sent;
    }

    private async Task EndAsync(ValueTask sent, Activity activity, Exception? fault)
    {
        try
        {
            await sent.ConfigureAwait(Node.ResumesInContext);
        }
        catch (Exception exception)
        {
            fault ??= exception;
            throw;
        }
        finally
        {
            MessageTracing.EndAside(activity, fault);
        }
    }

    private sealed class Cancellation(Responder<TRequest, TReply> responder) : IThreadPoolWorkItem
    {
        public void Execute()
        {
            try
            {
                responder._cancellation.Cancel();
            }
            catch (AggregateException exception)
            {
                responder.Node.Run(() => responder._endpoint.Topic.OnObserverFault(exception));
            }
        }
    }

    // The activity is null if nothing traces the request.
    private readonly record struct Origin(NodeId Requester, int Box, long Id, Activity? Activity);
}
