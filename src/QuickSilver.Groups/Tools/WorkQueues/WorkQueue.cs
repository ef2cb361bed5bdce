using System.Text;
using QuickSilver.Groups.Tools.Replicas;
using QuickSilver.Serialization;

namespace QuickSilver.Groups.Tools.WorkQueues;

// A queue at one member: works on the items that the state machine gives it.
//
// Invariant: what is in a state that was read is never begun here. It was given to this node before it came back, and the group gets to
// know that this node has forgotten it.
internal sealed class WorkQueue<TItem> : GroupTool<WorkQueueMachine>, IWorkQueue<TItem>
{
    private readonly IPayloadCodec<TItem> _codec;
    private readonly Func<WorkItem<TItem>, CancellationToken, ValueTask>? _work;
    private readonly WorkLimits _limits;
    private readonly Action<FailedItem<TItem>>? _onFailed;
    private readonly Lock _lock = new();
    // Of the items that this node works on, and may still work on.
    private HashSet<CancellationTokenSource> _running = [];
    private bool _isEnded;

    public WorkQueue(
        string name,
        NodeId self,
        IToolHost host,
        (Func<WorkItem<TItem>, CancellationToken, ValueTask>? Work, WorkLimits Limits) work,
        IPayloadCodec<TItem> codec,
        Action<FailedItem<TItem>>? onFailed)
        : base(name, self, new WorkQueueMachine(), host)
    {
        (_work, _limits) = work;
        _codec = codec;
        _onFailed = onFailed;
    }

    public int Waiting => Read(static state => state.Waiting);

    public int Running => Read(static state => state.Running);

    public override void Begin(IGroup<ReadOnlyMemory<byte>> group)
    {
        base.Begin(group);
        OfferWork();
    }

    public async ValueTask<long> EnqueueAsync(TItem item, CancellationToken cancellationToken = default)
    {
        if (item is null)
        {
            throw new ArgumentNullException(nameof(item));
        }

        byte[] message = WorkQueueMachine.EnqueueOf(_limits.MaxAttempts, _limits.Capacity, _codec.GetSize(item), out var room);
        _codec.Write(item, room);
        var outcome = await Replica.AskAsync(message, GroupOrder.Safe, waitsForPlace: true, onLeft: null, cancellationToken)
            .ConfigureAwait(Host.ResumesInContext);
        return outcome.Value switch
        {
            WorkQueueMachine.IsFull => throw new GroupFullException(
                Name, "items", _limits.Capacity, "Try later, let more members work, or raise WorkQueueOptions.Capacity."),
            WorkQueueMachine.HasTooManyBytes => throw new GroupFullException(
                Name, "bytes", WorkQueueMachine.MostBytes, "Try later, or keep large items elsewhere."),
            var id => id,
        };
    }

    public IReadOnlyList<FailedItem<TItem>> GetFailed()
    {
        var failed = Read(static state => state.Failed.ToArray());
        return [.. failed.Select(Read)];
    }

    public override ValueTask DisposeAsync()
    {
        bool isFirst;
        lock (_lock)
        {
            isFirst = !_isEnded;
            _isEnded = true;
        }

        if (isFirst)
        {
            CancelAll();
            if (_work is not null)
            {
                // Before this member leaves. If it does not come, the items are given to others as those of a member that failed.
                Replica.Post(WorkQueueMachine.GiveBackOf(), GroupOrder.Safe);
            }
        }

        return base.DisposeAsync();
    }

    public override void OnChanged()
    {
        List<Assignment> assignments;
        List<FailedEntry> failures;
        lock (Replica.Guard)
        {
            assignments = State.TakeAssignments();
            failures = State.TakeFailures();
        }

        foreach (var one in assignments)
        {
            if (one.Worker == Self)
            {
                BeginWork(one);
            }
        }

        if (_onFailed is not null)
        {
            foreach (var one in failures)
            {
                Host.RunBeside(() => Report(one));
            }
        }
    }

    public override void OnReplaced()
    {
        CancelAll();
        bool isEnded;
        lock (_lock)
        {
            isEnded = _isEnded;
        }

        if (!isEnded)
        {
            OfferWork();
        }
    }

    public override void OnEnded(Exception reason)
    {
        lock (_lock)
        {
            _isEnded = true;
        }

        CancelAll();
    }

    private void OfferWork()
    {
        if (_work is not null)
        {
            Replica.Post(WorkQueueMachine.WorkOf(_limits.Concurrency), GroupOrder.Safe);
        }
    }

    private void BeginWork(Assignment one)
    {
        var stop = new CancellationTokenSource();
        lock (_lock)
        {
            if (_isEnded)
            {
                return;
            }

            _running.Add(stop);
        }

        Host.RunBeside(() => _ = RunAsync(one, stop));
    }

    // The functions of the application get no lock, and nothing waits for them.
    private async Task RunAsync(Assignment one, CancellationTokenSource stop)
    {
        string? fault = null;
        try
        {
            var item = _codec.Read(one.Payload);
            await _work!(new WorkItem<TItem>(one.Id, item, one.Attempt, one.MaxAttempts, one.Origin), stop.Token)
                .ConfigureAwait(Host.ResumesInContext);
        }
        catch (Exception exception)
        {
            fault = $"{exception.GetType()}: {exception.Message}";
        }

        bool isOwn;
        lock (_lock)
        {
            isOwn = _running.Remove(stop);
        }

        // Otherwise the group has given the item to another member.
        if (isOwn)
        {
            Replica.Post(
                fault is null ? WorkQueueMachine.DoneOf(one.Id, one.Attempt) : WorkQueueMachine.FailOf(one.Id, one.Attempt, fault),
                GroupOrder.Safe);
        }
    }

    private void CancelAll()
    {
        HashSet<CancellationTokenSource> running;
        lock (_lock)
        {
            running = _running;
            _running = [];
        }

        foreach (var one in running)
        {
            Host.Cancel(one);
        }
    }

    private void Report(FailedEntry one)
    {
        try
        {
            _onFailed!(Read(one));
        }
        catch (Exception)
        {
            // The items are in the list all the same.
        }
    }

    private FailedItem<TItem> Read(FailedEntry one)
    {
        TItem? item = default;
        try
        {
            item = _codec.Read(one.Payload);
        }
        catch (Exception)
        {
            // Perhaps that is why it failed.
        }

        return new FailedItem<TItem>(one.Id, item, one.Attempts, Encoding.UTF8.GetString(one.Reason), one.Origin);
    }
}

// What a member adds and takes at most.
internal readonly record struct WorkLimits(int Concurrency, int MaxAttempts, int Capacity);
