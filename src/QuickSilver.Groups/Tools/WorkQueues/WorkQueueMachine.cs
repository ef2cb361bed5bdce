using System.Buffers;
using System.Text;
using QuickSilver.Groups.Tools.Replicas;

namespace QuickSilver.Groups.Tools.WorkQueues;

// The items of a queue, and which member works on which. Each change gives what waits to members that can take it, the oldest item first.
// An item that failed, or whose member has gone, waits again at its place, until its attempts are used up. A member that leaves in order
// first gives back what it works on, which counts as no attempt: in the order of the group, so that all members count alike.
//
// Invariant: no item waits while a member can take it. The items and those that failed take at most MostBytes.
internal sealed class WorkQueueMachine : Machine
{
    public const byte Work = 1;
    public const byte Enqueue = 2;
    public const byte Done = 3;
    public const byte Fail = 4;
    // The sender leaves, and works on nothing any more. What it has begun is no attempt.
    public const byte GiveBack = 5;

    // Answers that are no id.
    public const long IsFull = 0;
    public const long HasTooManyBytes = -1;

    public const int MostItems = 100_000;
    public const int MostAttempts = 1_000;
    public const int MostFailed = 1_000;
    public const int MostReasonBytes = 1_024;
    public const long MostBytes = 48L << 20;
    // Of an item beside its payload, in the state and in memory.
    private const int ItemBytes = 128;
    private const int LeastItemBytes = 32;

    private static readonly byte[] WorkerLeft = Encoding.UTF8.GetBytes("Its member left the group, failed or was removed.");

    private readonly Dictionary<long, QueueItem> _items = [];
    private readonly SortedSet<long> _waiting = [];
    private readonly WorkerTable _workers = new();
    private readonly Queue<FailedEntry> _failed = new();
    private List<Assignment> _assignments = [];
    private List<FailedEntry> _failures = [];
    private long _last;
    private long _bytes;

    public int Waiting => _waiting.Count;

    public int Running => _items.Count - _waiting.Count;

    public IReadOnlyCollection<FailedEntry> Failed => _failed;

    public static byte[] WorkOf(int concurrency)
    {
        byte[] message = Operation.Create(Work, sizeof(int));
        var body = Operation.BodyOf(message);
        body.Write(concurrency);
        return message;
    }

    public static byte[] EnqueueOf(int maxAttempts, int capacity, int itemBytes, out Span<byte> item)
    {
        byte[] message = Operation.Create(Enqueue, checked((3 * sizeof(int)) + itemBytes));
        var body = Operation.BodyOf(message);
        body.Write(maxAttempts);
        body.Write(capacity);
        item = body.WriteSized(itemBytes);
        return message;
    }

    public static byte[] DoneOf(long id, int attempt)
    {
        byte[] message = Operation.Create(Done, sizeof(long) + sizeof(int));
        var body = Operation.BodyOf(message);
        body.Write(id);
        body.Write(attempt);
        return message;
    }

    public static byte[] FailOf(long id, int attempt, string reason)
    {
        byte[] text = Encoding.UTF8.GetBytes(reason);
        var cut = text.AsSpan(0, Math.Min(text.Length, MostReasonBytes));
        byte[] message = Operation.Create(Fail, sizeof(long) + (2 * sizeof(int)) + cut.Length);
        var body = Operation.BodyOf(message);
        body.Write(id);
        body.Write(attempt);
        body.WriteSized(cut);
        return message;
    }

    public static byte[] GiveBackOf() => Operation.Create(GiveBack, bodyBytes: 0);

    /// <summary>What was given to members since the last call.</summary>
    public List<Assignment> TakeAssignments() => Take(ref _assignments);

    /// <summary>The items whose attempts were used up since the last call.</summary>
    public List<FailedEntry> TakeFailures() => Take(ref _failures);

    protected override void OnMembers(IReadOnlyList<NodeId> members, HashSet<NodeId> gone, List<Answer> answers)
    {
        foreach (var node in gone)
        {
            RemoveWorker(node);
        }

        _workers.Sort(members);
        Assign();
    }

    protected override void OnForgotten(NodeId node, long through, List<Answer> answers)
    {
        if (_workers.IsThrough(node, through))
        {
            RemoveWorker(node);
            Assign();
        }
    }

    protected override bool TryApply(NodeId sender, in Operation operation, List<Answer> answers)
    {
        var reader = new FieldReader(operation.Body);
        switch (operation.Kind)
        {
            case Work:
                int concurrency = reader.ReadInt32();
                if (!reader.IsComplete || concurrency is < 0 or > WorkerTable.MostConcurrency)
                {
                    return false;
                }

                _workers.Set(sender, concurrency, operation.Number);
                _workers.Sort(Members);
                break;
            case Enqueue:
                int maxAttempts = reader.ReadInt32();
                int capacity = reader.ReadInt32();
                var payload = reader.ReadSized();
                if (!reader.IsComplete || maxAttempts is < 1 or > MostAttempts)
                {
                    return false;
                }

                answers.Add(new Answer(sender, operation.Number, Add(sender, maxAttempts, capacity, payload)));
                break;
            case Done:
                long id = reader.ReadNumber();
                int attempt = reader.ReadInt32();
                if (!reader.IsComplete)
                {
                    return false;
                }

                if (Find(sender, id, attempt) is { } done)
                {
                    _workers.End(sender);
                    Remove(done);
                }

                break;
            case Fail:
                id = reader.ReadNumber();
                attempt = reader.ReadInt32();
                var reason = reader.ReadSized();
                if (!reader.IsComplete || reason.Length > MostReasonBytes)
                {
                    return false;
                }

                if (Find(sender, id, attempt) is { } failed)
                {
                    _workers.End(sender);
                    OnAttemptFailed(failed, reason, failedAt: sender);
                }

                break;
            case GiveBack:
                if (!reader.IsComplete)
                {
                    return false;
                }

                GiveBackAll(sender);
                break;
            default:
                return false;
        }

        Assign();
        return true;
    }

    protected override void WriteContent(IBufferWriter<byte> to)
    {
        to.Write(_last);
        _workers.Write(to);
        to.Write(_items.Count);
        foreach (var item in _items.Values.OrderBy(static one => one.Id))
        {
            to.Write(item.Id);
            to.Write(item.Origin);
            to.Write(item.MaxAttempts);
            to.Write(item.Attempt);
            WriteNode(to, item.Worker);
            WriteNode(to, item.FailedAt);
            to.WriteSized(item.Payload);
        }

        to.Write(_failed.Count);
        foreach (var one in _failed)
        {
            to.Write(one.Id);
            to.Write(one.Origin);
            to.Write(one.Attempts);
            to.WriteSized(one.Reason);
            to.WriteSized(one.Payload);
        }
    }

    protected override bool TryReadContent(ref FieldReader from)
    {
        _items.Clear();
        _waiting.Clear();
        _failed.Clear();
        (_assignments, _failures, _bytes) = ([], [], 0);
        _last = from.ReadNumber();
        return _workers.TryRead(ref from, IsMember) && TryReadItems(ref from) && TryReadFailed(ref from) && _bytes <= MostBytes;
    }

    private bool TryReadItems(ref FieldReader from)
    {
        for (int left = from.ReadCount(LeastItemBytes); left > 0; left--)
        {
            long id = from.ReadNumber();
            var origin = from.ReadNode();
            int maxAttempts = from.ReadInt32();
            int attempt = from.ReadInt32();
            var worker = ReadNode(ref from);
            var failedAt = ReadNode(ref from);
            var item = new QueueItem(id, origin, maxAttempts, from.ReadSized().ToArray())
            {
                Attempt = attempt,
                Worker = worker,
                FailedAt = failedAt,
            };
            if (id == 0 || id > _last || maxAttempts is < 1 or > MostAttempts || attempt < 0 || attempt > maxAttempts
                || (worker is null && attempt == maxAttempts) || (worker is { } node && !_workers.Contains(node))
                || !_items.TryAdd(id, item))
            {
                return false;
            }

            _bytes += SizeOf(item.Payload);
            if (worker is { } busy)
            {
                _workers.Begin(busy);
            }
            else
            {
                _waiting.Add(id);
            }
        }

        return true;
    }

    private bool TryReadFailed(ref FieldReader from)
    {
        for (int left = from.ReadCount(LeastItemBytes); left > 0; left--)
        {
            var one = new FailedEntry(
                from.ReadNumber(), from.ReadNode(), from.ReadInt32(), from.ReadSized().ToArray(), from.ReadSized().ToArray());
            if (one.Id == 0 || one.Id > _last || one.Attempts is < 1 or > MostAttempts || one.Reason.Length > MostReasonBytes)
            {
                return false;
            }

            _failed.Enqueue(one);
            _bytes += SizeOf(one.Payload);
        }

        return _failed.Count <= MostFailed;
    }

    private static void WriteNode(IBufferWriter<byte> to, NodeId? node)
    {
        to.Write([(byte)(node is null ? 0 : 1)]);
        if (node is { } some)
        {
            to.Write(some);
        }
    }

    private static NodeId? ReadNode(ref FieldReader from)
    {
        byte has = from.ReadByte();
        if (has > 1)
        {
            from.Fail();
        }

        return has == 1 ? from.ReadNode() : null;
    }

    private static List<T> Take<T>(ref List<T> list)
    {
        var taken = list;
        if (taken.Count > 0)
        {
            list = [];
        }

        return taken;
    }

    private static long SizeOf(ReadOnlySpan<byte> payload) => (long)ItemBytes + payload.Length;

    private QueueItem? Find(NodeId worker, long id, int attempt) =>
        _items.TryGetValue(id, out var item) && item.Worker == worker && item.Attempt == attempt ? item : null;

    private long Add(NodeId origin, int maxAttempts, int capacity, ReadOnlySpan<byte> payload)
    {
        if (_items.Count >= Math.Clamp(capacity, 1, MostItems))
        {
            return IsFull;
        }

        long size = SizeOf(payload);
        if (!MakeRoom(size))
        {
            return HasTooManyBytes;
        }

        _bytes += size;
        var item = new QueueItem(++_last, origin, maxAttempts, payload.ToArray());
        _items.Add(item.Id, item);
        _waiting.Add(item.Id);
        return item.Id;
    }

    // Items that failed give way to others, if that helps.
    private bool MakeRoom(long size)
    {
        if (_bytes + size > MostBytes && _bytes + size - _failed.Sum(static one => SizeOf(one.Payload)) > MostBytes)
        {
            return false;
        }

        while (_bytes + size > MostBytes)
        {
            _bytes -= SizeOf(_failed.Dequeue().Payload);
        }

        return true;
    }

    private void Remove(QueueItem item)
    {
        _items.Remove(item.Id);
        _bytes -= SizeOf(item.Payload);
    }

    private void RemoveWorker(NodeId node)
    {
        _workers.Remove(node);
        foreach (var item in ItemsOf(node))
        {
            OnAttemptFailed(item, WorkerLeft, failedAt: null);
        }
    }

    private void GiveBackAll(NodeId node)
    {
        _workers.Remove(node);
        foreach (var item in ItemsOf(node))
        {
            item.Attempt--;
            item.Worker = null;
            _waiting.Add(item.Id);
        }
    }

    private List<QueueItem> ItemsOf(NodeId worker) =>
        [.. _items.Values.Where(one => one.Worker == worker).OrderBy(static one => one.Id)];

    private void OnAttemptFailed(QueueItem item, ReadOnlySpan<byte> reason, NodeId? failedAt)
    {
        item.FailedAt = failedAt;
        item.Worker = null;
        if (item.Attempt < item.MaxAttempts)
        {
            _waiting.Add(item.Id);
            return;
        }

        _items.Remove(item.Id);
        var failed = new FailedEntry(item.Id, item.Origin, item.Attempt, reason.ToArray(), item.Payload);
        _failed.Enqueue(failed);
        _failures.Add(failed);
        if (_failed.Count > MostFailed)
        {
            _bytes -= SizeOf(_failed.Dequeue().Payload);
        }
    }

    private void Assign()
    {
        if (_workers.Spare == 0 || _waiting.Count == 0)
        {
            return;
        }

        var given = new List<long>();
        foreach (long id in _waiting)
        {
            var item = _items[id];
            if (_workers.Choose(item.FailedAt) is { } worker)
            {
                _workers.Begin(worker);
                item.Worker = worker;
                item.Attempt++;
                given.Add(id);
                _assignments.Add(new Assignment(worker, id, item.Attempt, item.MaxAttempts, item.Origin, item.Payload));
            }

            if (_workers.Spare == 0)
            {
                break;
            }
        }

        given.ForEach(id => _waiting.Remove(id));
    }
}
