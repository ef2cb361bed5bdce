using QuickSilver.Groups.Tools.Replicas;

namespace QuickSilver.Groups.Tools.Leaders;

// Leadership at one member: what the state machine says, as long as this node may be a member.
internal sealed class LeaderLease(string name, NodeId self, IToolHost host)
    : GroupTool<LeaderMachine>(name, self, new LeaderMachine(), host), ILeaderLease
{
    private readonly Lock _lock = new();
    private readonly LinkedList<TaskCompletionSource<Leadership>> _waiting = [];
    // While this node leads.
    private CancellationTokenSource? _lost;
    private long _term;
    private Exception? _end;

    public bool IsLeader
    {
        get
        {
            lock (_lock)
            {
                return _lost is not null && Host.IsServiceHeard && Host.IsLive;
            }
        }
    }

    public NodeId? Leader
    {
        get
        {
            lock (_lock)
            {
                return _end is null ? ReadState().Leader : null;
            }
        }
    }

    public long Term => ReadState().Term;

    public CancellationToken Lost
    {
        get
        {
            lock (_lock)
            {
                return _lost?.Token ?? new CancellationToken(canceled: true);
            }
        }
    }

    public override void Begin(IGroup<ReadOnlyMemory<byte>> group)
    {
        base.Begin(group);
        lock (_lock)
        {
            if (_end is null)
            {
                Host.ServiceChanged += Update;
            }
        }
    }

    public async ValueTask<Leadership> WaitForLeadershipAsync(CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        LinkedListNode<TaskCompletionSource<Leadership>> wait;
        lock (_lock)
        {
            if (_end is not null)
            {
                throw _end;
            }

            if (_lost is not null)
            {
                return new Leadership(_term, _lost.Token);
            }

            if (_waiting.Count == ToolLimits.MostPending)
            {
                throw new GroupFullException(Name, "calls that wait", ToolLimits.MostPending, "Wait for some of them first.");
            }

            wait = _waiting.AddLast(new TaskCompletionSource<Leadership>(Host.Completions));
        }

        using (cancellationToken.UnsafeRegister((_, token) => Leave(wait, token), null))
        {
            return await wait.Value.Task.ConfigureAwait(Host.ResumesInContext);
        }
    }

    public override void OnChanged() => Update();

    // The state has this node as a new member, so its term is over. It may lead again at once, in another one.
    public override void OnReplaced() => Update();

    public override void OnEnded(Exception reason)
    {
        List<TaskCompletionSource<Leadership>> waiting;
        lock (_lock)
        {
            _end = reason;
            Host.ServiceChanged -= Update;
            waiting = [.. _waiting];
            _waiting.Clear();
        }

        Update();
        foreach (var one in waiting)
        {
            one.TrySetException(reason);
            _ = one.Task.Exception;
        }
    }

    // From any thread: the state or the contact to the service may have changed.
    private void Update()
    {
        CancellationTokenSource? lost = null;
        List<TaskCompletionSource<Leadership>> waiting = [];
        Leadership now = default;
        lock (_lock)
        {
            var (leader, term) = ReadState();
            bool leads = _end is null && term > 0 && leader == Self && Host.IsServiceHeard;
            if (_lost is not null && (!leads || term != _term))
            {
                lost = _lost;
                _lost = null;
            }

            if (leads && _lost is null)
            {
                _lost = new CancellationTokenSource();
                _term = term;
                now = new Leadership(term, _lost.Token);
                waiting = [.. _waiting];
                _waiting.Clear();
            }
        }

        if (lost is not null)
        {
            Host.Cancel(lost);
        }

        waiting.ForEach(one => one.TrySetResult(now));
    }

    private void Leave(LinkedListNode<TaskCompletionSource<Leadership>> wait, CancellationToken cancellationToken)
    {
        lock (_lock)
        {
            if (wait.List is null)
            {
                return;
            }

            _waiting.Remove(wait);
        }

        wait.Value.TrySetCanceled(cancellationToken);
    }

    private (NodeId Leader, long Term) ReadState() => Read(static state => (state.Leader, state.Term));
}
