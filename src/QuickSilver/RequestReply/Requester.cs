using System.Buffers.Binary;
using System.Diagnostics;
using System.Text;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;
using QuickSilver.Endpoints.Changes;
using QuickSilver.Inboxes;
using QuickSilver.Membership.Views;
using QuickSilver.RequestReply.Pending;
using QuickSilver.Serialization;

namespace QuickSilver.RequestReply;

// One side of request and reply. Requests go to all responders through the topic of their name, and answers come to the inbox of this node.
// Nothing is sent to the membership service for a request, so no view changes.
//
// While requests wait, an alarm looks through them for those whose deadline has passed, or whose responders have left. It fires for a
// second longer than there are any, so that requests one after the other do not start it again and again.
internal sealed class Requester<TRequest, TReply> : IRequester<TRequest, TReply>, IRequesterCore<TRequest>, ILetterBox
{
    private const int IdleTicks = 100;
    private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(10);

    private readonly TopicEndpoint<RequestMessage<TRequest>> _endpoint;
    private readonly ISubscriberInterest _responders;
    private readonly Inbox _inbox;
    private readonly IPayloadCodec<TReply> _codec;
    private readonly RequesterOptions _options;
    private readonly RequestTable<IPendingRequest<TRequest, TReply>> _table;
    private readonly Alarm _alarm;
    private int _isTicking;
    private int _idleTicks;
    // Requests that wait for room in the topic's queue, whether their callers still wait or not.
    private int _entering;
    private volatile Exception? _end;
    // When the first look found that it is known who responds; 0: it is not known yet.
    private long _knownAt;

    /// <param name="endpoint">A publisher of the requests.</param>
    /// <param name="responders">The subscribers of the topic, followed.</param>
    /// <param name="inbox">The inbox of this node, open.</param>
    /// <param name="codec">The codec of the answers.</param>
    /// <param name="options">The options, checked.</param>
    /// <param name="firstNumber">Of the requests, as for <see cref="RequestTable{T}"/>.</param>
    public Requester(
        TopicEndpoint<RequestMessage<TRequest>> endpoint,
        ISubscriberInterest responders,
        Inbox inbox,
        IPayloadCodec<TReply> codec,
        RequesterOptions options,
        long firstNumber)
    {
        _endpoint = endpoint;
        _responders = responders;
        _inbox = inbox;
        _codec = codec;
        _options = options;
        _table = new RequestTable<IPendingRequest<TRequest, TReply>>(options.MaxOutstanding, firstNumber);
        _alarm = new Alarm(OnTick);
        Box = inbox.Add(this);
    }

    public string Name => _endpoint.Name;

    public NamedNode Named(NodeId node) => Node.Named(node);

    public int Responders => _responders.Current.Count;

    public int Outstanding => _table.Count;

    public int Box { get; }

    public TimeSpan WaitForResponder => _options.WaitForResponder;

    public TimeProvider Time => Node.OutsideTime;

    public TaskCreationOptions Completions => Node.Completions;

    private IEndpointNode Node => _endpoint.Topic.Node;

    public Task WaitForRespondersAsync(int count, CancellationToken cancellationToken = default) =>
        _endpoint.WaitForSubscribersAsync(count, cancellationToken);

    public Task<TReply> AskAsync(TRequest request, CancellationToken cancellationToken = default) =>
        AskAsync(request, _options.Timeout, cancellationToken);

    public Task<TReply> AskAsync(TRequest request, TimeSpan timeout, CancellationToken cancellationToken = default)
    {
        if (Refusal<TReply>(request, timeout, cancellationToken, out long id) is { } refused)
        {
            return refused;
        }

        var pending = new PendingAsk<TRequest, TReply>(this, request, id, timeout) { Activity = StartActivity() };
        Begin(pending, cancellationToken);
        return pending.Task;
    }

    public Task<IReadOnlyList<Reply<TReply>>> AskAllAsync(
        TRequest request, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
    {
        var within = timeout ?? _options.Timeout;
        if (Refusal<IReadOnlyList<Reply<TReply>>>(request, within, cancellationToken, out long id) is { } refused)
        {
            return refused;
        }

        var pending = new PendingAskAll<TRequest, TReply>(this, request, id, within) { Activity = StartActivity() };
        Begin(pending, cancellationToken);
        return pending.Task;
    }

    public async ValueTask DisposeAsync()
    {
        _inbox.Remove(Box);
        End(AfterDispose.OfRequester(Name));
        await _endpoint.DisposeAsync().ConfigureAwait(Node.ResumesInContext);
    }

    public void Publish(in RequestMessage<TRequest> message, IFailable request)
    {
        try
        {
            var published = _endpoint.PublishAsync(in message);
            if (!published.IsCompletedSuccessfully)
            {
                _ = EnterAsync(published, request);
            }
        }
        catch (Exception exception)
        {
            request.Fail(exception);
        }
    }

    public void Return(long id) => _table.Return(id);

    public void CountAnswer() => Interlocked.Increment(ref Node.CounterCells.RequestsAnswered);

    public void CountFailure(int kind) => Interlocked.Increment(ref Node.CounterCells.RequestFailures[kind]);

    public void OnLetter(NodeId sender, ReadOnlySpan<byte> letter)
    {
        if (letter.Length < ReplyLetter.HeaderBytes
            || BinaryPrimitives.ReadInt64LittleEndian(letter) is var id && _table.Find(id) is not { } pending || pending.Id != id)
        {
            // Its request has ended.
            return;
        }

        if (!pending.MayAnswer(sender, _responders.Current))
        {
            long dropped = _inbox.CountUnasked();
            if (RepeatedEvent.IsLogged(dropped))
            {
                ApiLog.AnswerUnasked(Node.Log, Name, Node.Named(sender), dropped);
            }

            return;
        }

        var body = letter[ReplyLetter.HeaderBytes..];
        if (letter[sizeof(long)] != ReplyLetter.Answer)
        {
            pending.OnFailure(sender, FailureOf(letter[sizeof(long)], sender, body));
            return;
        }

        TReply reply;
        try
        {
            reply = _codec.Read(body);
        }
        catch (Exception exception)
        {
            // A codec of the application may throw anything. Others may still answer.
            pending.OnFailure(sender, new ResponderFailedException(Name, Node.Named(sender), exception));
            return;
        }

        pending.OnReply(sender, reply);
    }

    public void OnEnded(Exception error) => End(error);

    private ResponderFailedException FailureOf(byte what, NodeId sender, ReadOnlySpan<byte> body)
    {
        if (what == ReplyLetter.Undecodable)
        {
            return ResponderFailedException.Undecodable(Name, Node.Named(sender), Encoding.UTF8.GetString(body));
        }

        if (what != ReplyLetter.Fault)
        {
            return new ResponderFailedException(Name, Node.Named(sender), Encoding.UTF8.GetString(body));
        }

        try
        {
            var fault = FaultDetail.Read(body, out string error);
            return new ResponderFailedException(Name, Node.Named(sender), error, fault);
        }
        catch (PayloadFormatException exception)
        {
            return new ResponderFailedException(Name, Node.Named(sender), exception);
        }
    }

    // A task that has failed if the request cannot be made; otherwise null, and the request has a place.
    private Task<TResult>? Refusal<TResult>(TRequest request, TimeSpan timeout, CancellationToken token, out long id)
    {
        if (request is null)
        {
            throw NullPayload.OfRequest(Name);
        }

        OptionRules.CheckRequestTimeout(timeout);
        id = 0;
        if (token.IsCancellationRequested)
        {
            return Task.FromCanceled<TResult>(token);
        }

        if (_end is { } end)
        {
            return Task.FromException<TResult>(end);
        }

        if (Volatile.Read(ref _entering) >= _options.MaxOutstanding || !_table.TryTake(out id))
        {
            CountFailure(RequestFailure.TooMany);
            var tooMany = new TooManyRequestsException(Name, _options.MaxOutstanding);
            MessageTracing.EndRequest(StartActivity(), RequestFailure.Kinds[RequestFailure.TooMany], tooMany);
            return Task.FromException<TResult>(tooMany);
        }

        Interlocked.Increment(ref Node.CounterCells.Requests);
        return null;
    }

    private Activity? StartActivity() => MessageTracing.IsOn ? MessageTracing.StartRequest(Name) : null;

    private void Begin<TResult>(PendingRequest<TRequest, TReply, TResult> pending, CancellationToken token)
    {
        _table.Set(pending.Id, pending);
        pending.EndWith(token);
        if (_end is { } end)
        {
            pending.Fail(end);
            return;
        }

        StartTicking();
        var current = _responders.Current;
        if (current.Count > 0)
        {
            pending.Send(current);
        }
    }

    private async Task EnterAsync(ValueTask published, IFailable request)
    {
        Interlocked.Increment(ref _entering);
        try
        {
            await published.ConfigureAwait(Node.ResumesInContext);
        }
        catch (Exception exception)
        {
            request.Fail(exception);
        }
        finally
        {
            Interlocked.Decrement(ref _entering);
        }
    }

    // From any thread. Requests that are added later see the end.
    private void End(Exception error)
    {
        _end ??= error;
        Interlocked.MemoryBarrier();
        for (int i = 0; i < _table.Used; i++)
        {
            _table.At(i)?.Fail(error);
        }
    }

    private void StartTicking()
    {
        if (Volatile.Read(ref _isTicking) == 0 && Interlocked.Exchange(ref _isTicking, 1) == 0)
        {
            Node.Run(ScheduleTick);
        }
    }

    private void ScheduleTick() => Node.Environment.Schedule(_alarm, Tick);

    private void OnTick()
    {
        long now = Time.GetTimestamp();
        _knownAt = _knownAt == 0 && _responders.IsKnown ? now : _knownAt;
        var current = _responders.Current;
        try
        {
            for (int i = 0; i < _table.Used; i++)
            {
                _table.At(i)?.OnTick(now, _knownAt, current);
            }
        }
        finally
        {
            // A listener of activities may throw. The deadlines of the other requests hold.
            TickOn();
        }
    }

    private void TickOn()
    {
        _idleTicks = _table.Count > 0 ? 0 : _idleTicks + 1;
        if (_idleTicks < IdleTicks)
        {
            ScheduleTick();
            return;
        }

        _idleTicks = 0;
        Interlocked.Exchange(ref _isTicking, 0);
        if (_table.Count > 0)
        {
            // It came in between.
            StartTicking();
        }
    }
}
