using System.Buffers;
using System.IO.Pipelines;
using QuickSilver.Serialization;

namespace QuickSilver.Groups.Tools.Replicas;

// A copy of a tool's state at this member: gives the events of the group to the state machine, and the answers to the callers of this
// node.
//
// Invariant: the state machine is called and read under the lock alone. Code of the application is not called under it.
internal sealed class Replica(string name, NodeId self, Machine machine, IReplicaOwner owner, IToolHost host, int mostPending)
    : IGroupHandler<ReadOnlyMemory<byte>>, ICountedHandler
{
    private readonly PendingOperations _pending = new(host.Completions, mostPending);
    // Of the event that is applied.
    private readonly List<Answer> _answers = [];
    private volatile IGroup<ReadOnlyMemory<byte>>? _group;
    private bool _hasState;
    // Messages were lost, unless this member has been removed in the meantime.
    private GapNotice? _gap;
    private int _life;

    /// <summary>Guards the state machine.</summary>
    public Lock Guard { get; } = new();

    public Action? OnIgnored { private get; set; }

    /// <summary>How often this member was removed and came back.</summary>
    public int Life => Volatile.Read(ref _life);

    /// <summary>The group is open.</summary>
    public void Begin(IGroup<ReadOnlyMemory<byte>> group) => _group = group;

    /// <summary>Sends an operation and waits for its answer.</summary>
    /// <param name="message">The operation, without its number.</param>
    /// <param name="order">The order in which it is applied.</param>
    /// <param name="waitsForPlace">Whether the caller waits if too many operations of this node wait. Otherwise it fails.</param>
    /// <param name="onLeft">Called with the number if the caller waits no longer, although the operation may be applied.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public async ValueTask<Outcome> AskAsync(
        byte[] message, GroupOrder order, bool waitsForPlace, Action<long>? onLeft, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        long number = _pending.TryBegin(out var answer);
        if (number == 0)
        {
            if (!waitsForPlace)
            {
                throw new GroupFullException(name, "calls of this node that wait", mostPending, "Wait for some of them first.");
            }

            var place = _pending.JoinLine();
            using (cancellationToken.UnsafeRegister((_, token) => _pending.LeaveLine(place, token), null))
            {
                await place.Value.Task.ConfigureAwait(host.ResumesInContext);
            }

            number = _pending.Use(out answer);
        }

        try
        {
            Operation.SetNumber(message, number);
            await _group!.SendAsync(message, order, cancellationToken).ConfigureAwait(host.ResumesInContext);
        }
        catch
        {
            _pending.Drop(number);
            onLeft?.Invoke(number);
            throw;
        }

        using (cancellationToken.UnsafeRegister((_, token) => _pending.Cancel(number, token), null))
        {
            try
            {
                return await answer!.ConfigureAwait(host.ResumesInContext);
            }
            catch (OperationCanceledException)
            {
                onLeft?.Invoke(number);
                throw;
            }
        }
    }

    /// <summary>Sends an operation that has no answer. If the group has ended, it does nothing: then the state has no part of this
    /// node.</summary>
    public void Post(byte[] message, GroupOrder order)
    {
        Operation.SetNumber(message, _pending.NextNumber());
        _ = PostAsync(message, order);
    }

    public ValueTask OnEventAsync(GroupEvent<ReadOnlyMemory<byte>> one, CancellationToken cancellationToken)
    {
        bool isReplaced = _hasState && one.IsView && one.View.Joined.Contains(self);
        if (isReplaced)
        {
            Replace();
        }

        ThrowIfGap();
        _hasState = true;
        bool isIgnored;
        lock (Guard)
        {
            _answers.Clear();
            long ignored = machine.Ignored;
            if (one.TryGetMessage(out var message))
            {
                machine.Apply(one.Sender, message.Span, _answers);
            }
            else
            {
                machine.OnView(one.View, _answers);
            }

            isIgnored = machine.Ignored > ignored;
        }

        if (isIgnored)
        {
            OnIgnored?.Invoke();
        }

        // Before the callers continue, so that what they read has their change. Only this loop changes the list.
        owner.OnChanged();
        foreach (var answer in _answers)
        {
            if (answer.Node == self)
            {
                _pending.Complete(new Outcome(answer.Number, _life, answer.Value, answer.Extra));
            }
        }

        return ValueTask.CompletedTask;
    }

    public ValueTask WriteStateAsync(PipeWriter to, CancellationToken cancellationToken)
    {
        lock (Guard)
        {
            machine.Write(to);
        }

        return ValueTask.CompletedTask;
    }

    public ValueTask ReadStateAsync(PipeReader from, GroupView view, CancellationToken cancellationToken)
    {
        // All of it is there: it came as a whole. Without a byte there is nothing to read.
        _ = from.TryRead(out var read);
        bool isRead;
        lock (Guard)
        {
            isRead = machine.TryRead(read.Buffer.IsSingleSegment ? read.Buffer.FirstSpan : read.Buffer.ToArray())
                && machine.View == view.Number;
        }

        if (!isRead)
        {
            throw PayloadFormatException.Of(
                $"The state of the group \"{name}\" at another member is malformed, or of another version of this tool. Use the same "
                + "version at all members");
        }

        from.AdvanceTo(read.Buffer.End);
        if (_hasState)
        {
            Replace();
        }

        _hasState = true;
        owner.OnChanged();
        return ValueTask.CompletedTask;
    }

    public void OnGap(GapNotice gap)
    {
        if (machine.EndsOnGap)
        {
            _gap ??= gap;
        }
    }

    public void OnEnded(SubscriptionEnd end)
    {
        var reason = end.Error ?? new ObjectDisposedException(null, $"The group \"{name}\" was disposed.");
        _pending.End(reason);
        owner.OnEnded(reason);
    }

    // The operations up to now have no caller any more, and may be applied all the same.
    private void Replace()
    {
        _gap = null;
        Volatile.Write(ref _life, _life + 1);
        long through = _pending.FailAll(() => new GroupOutcomeUnknownException(name));
        owner.OnReplaced();
        if (through > 0)
        {
            byte[] forget = Operation.Create(Operation.Forget, bodyBytes: 0);
            Operation.SetNumber(forget, through);
            _ = PostAsync(forget, GroupOrder.Safe);
        }
    }

    private async Task PostAsync(byte[] message, GroupOrder order)
    {
        // Before the group is open nothing was asked, and the tool begins when it is.
        if (_group is not { } group)
        {
            return;
        }

        try
        {
            await group.SendAsync(message, order, CancellationToken.None).ConfigureAwait(host.ResumesInContext);
        }
        catch (Exception exception) when (exception is QuickSilverException or ObjectDisposedException)
        {
            // The group has ended: its other members drop what they hold for this node.
        }
    }

    private void ThrowIfGap()
    {
        if (_gap is { } gap)
        {
            throw new InvalidOperationException(
                $"This member of the group \"{name}\" cannot get {gap}, so its state may differ from that of the others");
        }
    }
}
