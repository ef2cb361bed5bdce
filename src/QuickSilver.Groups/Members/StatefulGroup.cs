using QuickSilver.Endpoints;
using QuickSilver.Groups.Endpoints;
using QuickSilver.Groups.States;
using QuickSilver.Serialization;

namespace QuickSilver.Groups.Members;

// A group whose events go to a handler that has a state.
internal sealed class StatefulGroup<TMessage> : IGroup<TMessage>, IStateMember, IMemberLife
{
    // The member in whose handler the caller is. It must not wait there for its own end.
    private static readonly AsyncLocal<object?> Inside = new();

    private readonly TopicEndpoint<GroupItem<TMessage>> _endpoint;
    private readonly Group<TMessage> _group;
    private readonly NodeId _self;
    private readonly IGroupHandler<TMessage> _handler;
    private readonly StateLimits _limits;
    private readonly MemberMail _mail;
    private readonly CancellationTokenSource _stop = new();
    private readonly TaskCompletionSource _opened;
    private Task _ended = Task.CompletedTask;
    private StateSeeker? _seeker;
    private volatile Exception? _failure;
    private volatile MemberLoop<TMessage>? _loop;

    public StatefulGroup(
        TopicEndpoint<GroupItem<TMessage>> endpoint,
        Group<TMessage> group,
        NodeId self,
        IGroupHandler<TMessage> handler,
        StateLimits limits)
    {
        _endpoint = endpoint;
        _group = group;
        _self = self;
        _handler = handler;
        _limits = limits;
        _mail = new MemberMail(Node.Completions);
        _opened = new TaskCompletionSource(Node.Completions);
    }

    public string Name => _endpoint.Name;

    public TimeProvider Time => Node.OutsideTime;

    public TaskCreationOptions Completions => Node.Completions;

    public bool ResumesInContext => Node.ResumesInContext;

    public long MostBytes => _limits.StateBytes;

    public bool HasState => _loop is { HasState: true };

    public int MostWaiting => _limits.WaitingEvents;

    public CancellationToken Stop => _stop.Token;

    /// <summary>Completes when this member has a state, or fails when it has ended before.</summary>
    public Task Opened => _opened.Task;

    private IEndpointNode Node => _endpoint.Topic.Node;

    /// <summary>From any thread, once.</summary>
    /// <param name="join">Makes this member known to the protocol. Called on the core thread.</param>
    public void Begin(Func<IStateMember, StateSeeker?> join)
    {
        Node.Run(() => _seeker = join(this));
        _ended = RunAsync();
    }

    public ValueTask SendAsync(TMessage message, CancellationToken cancellationToken = default)
    {
        ThrowIfFailed();
        return _group.SendAsync(message, cancellationToken);
    }

    public ValueTask SendAsync(TMessage message, GroupOrder order, CancellationToken cancellationToken = default)
    {
        ThrowIfFailed();
        return _group.SendAsync(message, order, cancellationToken);
    }

    public IAsyncEnumerable<GroupEvent<TMessage>> ReadAllAsync(
        Action<GapNotice>? onGap = null, CancellationToken cancellationToken = default) => throw HasHandler();

    public ISubscription SubscribeInline(
        GroupHandler<TMessage> handler, Action<GapNotice>? onGap = null, Action<SubscriptionEnd>? onEnded = null) => throw HasHandler();

    public IAsyncEnumerable<GroupReply<TReply>> AskAsync<TReply>(
        TMessage question, QuestionOptions? options = null, CancellationToken cancellationToken = default)
    {
        ThrowIfFailed();
        return _group.AskAsync<TReply>(question, options, cancellationToken);
    }

    public IAsyncEnumerable<GroupReply<TReply>> AskAsync<TReply>(
        TMessage question, IPayloadCodec<TReply> codec, QuestionOptions? options = null, CancellationToken cancellationToken = default)
    {
        ThrowIfFailed();
        return _group.AskAsync(question, codec, options, cancellationToken);
    }

    public Task DrainAsync(CancellationToken cancellationToken = default)
    {
        ThrowIfFailed();
        return _group.DrainAsync(cancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        bool isInside = Inside.Value == this;
        Node.Environment.RunBeside(new Cancellation(this));
        await _group.DisposeAsync().ConfigureAwait(ResumesInContext);
        if (!isInside)
        {
            await _ended.ConfigureAwait(ResumesInContext);
        }
    }

    void IStateMember.OnAsked(StateRequest request) => _mail.Add(request);

    void IStateMember.OnState(NodeId donor, StatePlace place, ReadOnlyMemory<byte> state) =>
        _mail.Add(new TakenState(donor, place, state));

    void IStateMember.OnNoState(long view) => _mail.AddNoState(view);

    void IStateMember.OnTooLarge(NodeId donor, long size, long limit) =>
        _mail.AddFault(new GroupStateTooLargeException(Name, donor, size, limit));

    void IStateMember.OnUnattainable(Exception reason) => _mail.AddFault(reason);

    public void Seek(StateSearch search) => Node.Run(() => _seeker?.Seek(search));

    public void EndSearch() => Node.Run(() => _seeker?.Stop());

    public void OnState() => _opened.TrySetResult();

    private async Task RunAsync()
    {
        Inside.Value = this;
        var calls = new StateCalls<TMessage>(Name, _handler, ResumesInContext, _stop.Token);
        var loop = new MemberLoop<TMessage>(_endpoint, _group, _self, calls, _mail, this);
        _loop = loop;
        Exception? error = null;
        try
        {
            await loop.RunAsync().ConfigureAwait(ResumesInContext);
        }
        catch (OperationCanceledException) when (_stop.IsCancellationRequested)
        {
        }
        catch (Exception exception)
        {
            error = exception;
        }

        End(error);
    }

    private void End(Exception? error)
    {
        _failure = error;
        Node.Run(_mail.Close);
        EndSearch();
        _opened.TrySetException(error ?? new ObjectDisposedException(null, $"The group \"{Name}\" was disposed before it had the state."));
        // Leaves the group: the others must not wait for this member.
        _ = _group.DisposeAsync();
        try
        {
            _handler.OnEnded(error is GroupHandlerException or GroupStateTooLargeException
                ? new SubscriptionEnd(SubscriptionEndReason.ConsumerFailed, error)
                : SubscriptionEnd.Of(error, isCancelled: false));
        }
        catch (Exception exception)
        {
            OnFault(exception);
        }
    }

    private void ThrowIfFailed()
    {
        if (_failure is { } failure)
        {
            throw failure;
        }
    }

    private void OnFault(Exception exception) => Node.Run(() => _endpoint.Topic.OnObserverFault(exception));

    private InvalidOperationException HasHandler() => new(
        $"The events of the group \"{Name}\" go to the handler with which it was opened. Open a group without a state to read them.");

    // The token has callbacks of the application, which must not run on the core thread.
    private sealed class Cancellation(StatefulGroup<TMessage> group) : IThreadPoolWorkItem
    {
        public void Execute()
        {
            try
            {
                group._stop.Cancel();
            }
            catch (AggregateException exception)
            {
                group.OnFault(exception);
            }
        }
    }
}

// The largest state, and the events that wait for it.
internal readonly record struct StateLimits(int StateBytes, int WaitingEvents);
