using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;
using QuickSilver.Endpoints.Changes;
using QuickSilver.Inboxes;
using QuickSilver.States.Joining;
using QuickSilver.Transfers;

namespace QuickSilver.States;

// One state on one node: what the application calls, and what comes from the topic and the inbox.
internal sealed class ReplicatedState<TKey, TValue> : IState<TKey, TValue>, IStateWire<TKey, TValue>, ILetterBox
    where TKey : notnull
{
    private readonly TopicEndpoint<StateMessage<TKey, TValue>> _endpoint;
    private readonly StateTable<TKey, TValue> _table;
    private readonly StateEntryBytes<TKey, TValue> _bytes;
    private readonly StateSync<TKey, TValue> _sync;
    private readonly Inbox _inbox;
    private readonly Action _closed;
    private readonly TaskCompletionSource _opened;
    private ISubscriberInterest? _interest;
    private volatile Exception? _end;
    private readonly Func<long> _keys;
    private long _notGiven;
    private int _isDisposed;

    /// <param name="endpoint">An endpoint without echo.</param>
    /// <param name="self">This node.</param>
    /// <param name="inbox">The inbox of this node, open.</param>
    /// <param name="bytes">The bytes of entries.</param>
    /// <param name="maxKeys">The limit.</param>
    /// <param name="closed">Called when the state is disposed.</param>
    public ReplicatedState(
        TopicEndpoint<StateMessage<TKey, TValue>> endpoint,
        NodeId self,
        Inbox inbox,
        StateEntryBytes<TKey, TValue> bytes,
        int maxKeys,
        Action closed)
    {
        _endpoint = endpoint;
        Self = self;
        _inbox = inbox;
        _bytes = bytes;
        _closed = closed;
        _opened = new TaskCompletionSource(Node.Completions);
        _table = new StateTable<TKey, TValue>(maxKeys, Node.OutsideTime);
        var giver = new BulkGiver(inbox.Routes, Node, perNode: 1, OnNotGiven);
        _sync = new StateSync<TKey, TValue>(this, _table, bytes, giver, Node);
        Box = inbox.Add(this);
        _keys = () => _table.Count;
        Node.CounterCells.StateKeys.Add(_keys);
    }

    public string Name => _endpoint.Name;

    public NodeId Self { get; }

    public int Box { get; }

    public int Count => _table.Count;

    public bool IsComplete => _sync.IsComplete;

    /// <summary>Completes when the state is complete for the first time, or fails when it has ended before.</summary>
    public Task Opened => _opened.Task;

    /// <summary>From any thread: what is missing while it is not complete, and whom it asked, in sentences.</summary>
    public string Missing => _sync.Missing;

    /// <summary>Core thread: to how many nodes this one gives what it has.</summary>
    public int Giving => _sync.Giving;

    public SubscriberSet Members => _interest!.Current;

    public bool KnowsAllMembers => Members.Contains(Self) && Members.Count == _endpoint.Subscribers;

    private IEndpointNode Node => _endpoint.Topic.Node;

    /// <summary>From any thread, once.</summary>
    public void Begin() => Node.Run(() =>
    {
        _interest = _endpoint.Topic.Interest;
        _interest.Follow(_sync.OnMembers);
        _endpoint.SubscribeInline(OnMessage, OnGap, end => OnEnded(end.Error ?? AfterDispose.OfState(Name)));
        _sync.Begin();
    });

    public bool TryGet(TKey key, [MaybeNullWhen(false)] out TValue value)
    {
        ArgumentNullException.ThrowIfNull(key);
        if (_table.TryGet(key, out var entry))
        {
            value = entry.Value!;
            return true;
        }

        value = default;
        return false;
    }

    public IReadOnlyList<KeyValuePair<TKey, TValue>> GetSnapshot() =>
    [
        .. _table.ToArray().Where(static entry => !entry.IsRemoved).Select(
            static entry => new KeyValuePair<TKey, TValue>(entry.Key, entry.Value!)),
    ];

    public ValueTask SetAsync(TKey key, TValue value, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(key);
        if (value is null)
        {
            throw NullPayload.OfState(Name);
        }

        CheckOpen();
        cancellationToken.ThrowIfCancellationRequested();
        if (_table.Count >= _table.MaxKeys && !_table.TryGet(key, out _))
        {
            throw new StateFullException(Name, _table.Count, isEnded: false);
        }

        return ChangeAsync(key, value, isRemoved: false, cancellationToken);
    }

    public async ValueTask<bool> RemoveAsync(TKey key, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(key);
        CheckOpen();
        cancellationToken.ThrowIfCancellationRequested();
        if (!_table.TryGet(key, out _))
        {
            return false;
        }

        await ChangeAsync(key, default, isRemoved: true, cancellationToken).ConfigureAwait(Node.ResumesInContext);
        return true;
    }

    public IAsyncEnumerable<StateChange<TKey, TValue>> WatchChangesAsync(CancellationToken cancellationToken = default)
    {
        CheckOpen();
        return ReadChangesAsync(cancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _isDisposed, 1) == 0)
        {
            _inbox.Remove(Box);
            await _endpoint.DisposeAsync().ConfigureAwait(Node.ResumesInContext);
            OnEnded(AfterDispose.OfState(Name));
            _closed();
        }
    }

    public void Send(in StateMessage<TKey, TValue> message)
    {
        try
        {
            // In the order of the calls. What waits for room is limited: by the nodes that join, and by what a node that left had sent.
            _ = _endpoint.PublishAsync(in message);
        }
        catch (Exception exception) when (exception is InvalidOperationException or ObjectDisposedException or QuickSilverException)
        {
            // The endpoint has ended, and so has the state.
        }
        catch (Exception exception)
        {
            // A codec of the application may throw anything. A node that asks again gets the message again.
            ApiLog.StateNotSent(Node.Log, exception, Name);
        }
    }

    public bool Merge(StateEntry<TKey, TValue> entry)
    {
        bool isNew = _table.Merge(entry);
        if (isNew && _table.Count > 2 * (long)_table.MaxKeys)
        {
            var full = new StateFullException(Name, _table.Count, isEnded: true);
            OnEnded(full);
            _endpoint.Cancel();
        }

        return isNew;
    }

    public void OnComplete() => _opened.TrySetResult();

    public void OnLetter(NodeId sender, ReadOnlySpan<byte> letter) => _sync.OnLetter(sender, letter);

    // From any thread; the first reason counts.
    public void OnEnded(Exception error)
    {
        if (Interlocked.CompareExchange(ref _end!, error, null) is not null)
        {
            return;
        }

        Node.CounterCells.StateKeys.Remove(_keys);
        _opened.TrySetException(error);
        _table.End(error is ObjectDisposedException ? null : error);
        Node.Run(_sync.Close);
    }

    // Beside the core thread.
    private void OnNotGiven(Exception exception, NodeId to)
    {
        long count = Interlocked.Increment(ref _notGiven);
        if (RepeatedEvent.IsLogged(count))
        {
            ApiLog.StateNotGiven(Node.Log, exception, Name, Node.Named(to), count);
        }
    }

    private void OnMessage(in Message<StateMessage<TKey, TValue>> message)
    {
        try
        {
            _sync.OnMessage(message.Sender, message.Value);
        }
        catch
        {
            // There is no memory, or a key of the application threw: the change is not in the table, and does not come again.
            _sync.OnLost();
            throw;
        }
    }

    private void OnGap(GapNotice gap)
    {
        if (gap.Reason == GapReason.Undecodable)
        {
            _sync.OnUndecodable(gap.Sender);
        }
        else
        {
            _sync.OnLost();
        }
    }

    private ValueTask ChangeAsync(TKey key, TValue? value, bool isRemoved, CancellationToken cancellationToken)
    {
        var entry = new StateEntry<TKey, TValue>(key, value, isRemoved, _table.NextStamp(key, Self));
        // Before anything is changed: this node must not have what cannot be sent.
        int size = 1 + _bytes.GetSize(entry);
        MessageTooLargeException.ThrowIfOver(size);

        long outranked = _table.Outranked;
        StateEntry<TKey, TValue>? before = null;
        ValueTask published;
        _table.BeginChange();
        try
        {
            // Merged first, so that a node that joins meanwhile gets it in any case: from this node, or as a message.
            _table.Merge(entry, out before);
            published = _endpoint.PublishAsync(new StateMessage<TKey, TValue> { Entry = entry });
        }
        catch
        {
            Revert(entry, before, outranked);
            throw;
        }

        if (published.IsCompletedSuccessfully)
        {
            _table.SettleChange();
            return published;
        }

        var sending = SendAsync(published, entry, before, outranked);
        return new ValueTask(cancellationToken.CanBeCanceled ? sending.WaitAsync(cancellationToken) : sending);
    }

    private async Task SendAsync(
        ValueTask published, StateEntry<TKey, TValue> entry, StateEntry<TKey, TValue>? before, long outranked)
    {
        try
        {
            await published.ConfigureAwait(Node.ResumesInContext);
        }
        catch
        {
            Revert(entry, before, outranked);
            throw;
        }

        _table.SettleChange();
    }

    // The change was not accepted: a codec threw, or there is no memory, or the message is too large for now.
    private void Revert(StateEntry<TKey, TValue> entry, StateEntry<TKey, TValue>? before, long outranked)
    {
        try
        {
            _table.Revert(entry, before);
        }
        finally
        {
            _table.SettleChange();
        }

        if (_table.Outranked != outranked)
        {
            // The change may have kept out another node's.
            Node.Run(_sync.OnLost);
        }
    }

    private async IAsyncEnumerable<StateChange<TKey, TValue>> ReadChangesAsync([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var reader = _table.AddReader(Node.Completions);
        try
        {
            if (_end is { } end)
            {
                reader.End(end is ObjectDisposedException ? null : end);
            }

            while (true)
            {
                cancellationToken.ThrowIfCancellationRequested();
                if (reader.TryTake(out var key, out var wait))
                {
                    if (_table.TryGetLast(key, out var entry))
                    {
                        var origin = entry.Stamp == StateStamp.BeforeAll ? Self : entry.Stamp.Origin;
                        yield return new StateChange<TKey, TValue>(entry.Key, entry.Value, entry.IsRemoved, origin);
                    }
                }
                else if (wait is null)
                {
                    yield break;
                }
                else
                {
                    await wait.WaitAsync(cancellationToken).ConfigureAwait(Node.ResumesInContext);
                }
            }
        }
        finally
        {
            _table.RemoveReader(reader);
        }
    }

    private void CheckOpen()
    {
        if (_end is { } end)
        {
            throw end;
        }
    }
}
