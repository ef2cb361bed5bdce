using QuickSilver.Groups.Tools.Replicas;

namespace QuickSilver.Groups.Tools.Locks;

// A lock at one member, with the holds of this node.
//
// Invariant: a hold whose node may have been removed is lost, and each request that its caller has left is followed by its release.
internal sealed class DistributedLock(string name, NodeId self, IToolHost host)
    : GroupTool<LockMachine>(name, self, new LockMachine(), host), IDistributedLock
{
    private readonly Lock _lock = new();
    private readonly Dictionary<long, LockHold> _holds = [];
    private bool _isEnded;

    public NodeId? Holder => Read(static state => state.Holder);

    public int Waiting => Read(static state => state.Waiting);

    public override void Begin(IGroup<ReadOnlyMemory<byte>> group)
    {
        base.Begin(group);
        lock (_lock)
        {
            if (!_isEnded)
            {
                Host.ServiceChanged += OnServiceChanged;
            }
        }
    }

    public async ValueTask<ILockHold> AcquireAsync(CancellationToken cancellationToken = default) =>
        (await TakeAsync(LockMachine.Acquire, cancellationToken).ConfigureAwait(Host.ResumesInContext))!;

    public async ValueTask<ILockHold?> TryAcquireAsync(CancellationToken cancellationToken = default) =>
        await TakeAsync(LockMachine.TryAcquire, cancellationToken).ConfigureAwait(Host.ResumesInContext);

    public void Release(LockHold hold)
    {
        lock (_lock)
        {
            _holds.Remove(hold.Number);
        }

        Release(hold.Number);
    }

    public override void OnChanged()
    {
    }

    public override void OnReplaced() => Lose(areVoid: true);

    public override void OnEnded(Exception reason)
    {
        lock (_lock)
        {
            _isEnded = true;
            Host.ServiceChanged -= OnServiceChanged;
        }

        Lose(areVoid: true);
    }

    private void OnServiceChanged()
    {
        if (!Host.IsServiceHeard)
        {
            Lose(areVoid: false);
        }
    }

    // Those that are not void are still in the line of the group, until they are disposed or the node is removed.
    private void Lose(bool areVoid)
    {
        LockHold[] holds;
        lock (_lock)
        {
            holds = [.. _holds.Values];
            if (areVoid)
            {
                _holds.Clear();
            }
        }

        foreach (var hold in holds)
        {
            Host.Cancel(hold.LostSource);
        }
    }

    private async ValueTask<LockHold?> TakeAsync(byte kind, CancellationToken cancellationToken)
    {
        byte[] message = Operation.Create(kind, bodyBytes: 0);
        var outcome = await Replica.AskAsync(message, GroupOrder.Safe, waitsForPlace: false, Release, cancellationToken)
            .ConfigureAwait(Host.ResumesInContext);
        return outcome.Value switch
        {
            LockMachine.IsHeld => null,
            LockMachine.IsFull => throw new GroupFullException(
                Name, "requests that wait", LockMachine.MostWaiting, "Wait for some of them first."),
            var grant => Hold(outcome, new FencingNumber(outcome.Extra, grant)),
        };
    }

    private LockHold Hold(in Outcome outcome, FencingNumber fencing)
    {
        var hold = new LockHold(this, outcome.Number, fencing);
        bool isLost;
        lock (_lock)
        {
            // It may have been lost between the grant and here.
            isLost = _isEnded || outcome.Life != Replica.Life || !Host.IsServiceHeard;
            if (!_isEnded)
            {
                _holds.Add(hold.Number, hold);
            }
        }

        if (isLost)
        {
            Host.Cancel(hold.LostSource);
        }

        return hold;
    }

    private void Release(long number) => Replica.Post(LockMachine.ReleaseOf(number), GroupOrder.Safe);
}
