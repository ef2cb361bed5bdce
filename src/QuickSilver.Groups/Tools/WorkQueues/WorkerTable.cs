using System.Buffers;
using QuickSilver.Groups.Tools.Replicas;

namespace QuickSilver.Groups.Tools.WorkQueues;

// The members that work on items, by age: how many items each takes at once, and how many it has.
internal sealed class WorkerTable
{
    public const int MostConcurrency = 1024;

    private const int WorkerBytes = SpanWriter.NodeBytes + sizeof(int) + sizeof(long);

    private readonly List<Worker> _workers = [];

    /// <summary>The number of items that the workers can take now.</summary>
    public int Spare { get; private set; }

    public int Count => _workers.Count;

    /// <summary>A member takes so many items at once from now on; 0: none. The number is that of the operation that says so.</summary>
    public void Set(NodeId node, int concurrency, long number)
    {
        var worker = Find(node);
        if (worker is null)
        {
            worker = new Worker(node);
            _workers.Add(worker);
        }

        (worker.Concurrency, worker.Number) = (concurrency, number);
        CountSpare();
    }

    /// <summary>Whether the member is a worker by an operation up to a number.</summary>
    public bool IsThrough(NodeId node, long number) => Find(node) is { } worker && worker.Number <= number;

    public bool Contains(NodeId node) => Find(node) is not null;

    public void Remove(NodeId node)
    {
        _workers.RemoveAll(one => one.Node == node);
        CountSpare();
    }

    /// <summary>Puts the workers in the order of the members.</summary>
    public void Sort(IReadOnlyList<NodeId> members)
    {
        var ranks = new Dictionary<NodeId, int>(members.Count);
        for (int i = 0; i < members.Count; i++)
        {
            ranks[members[i]] = i;
        }

        _workers.Sort((one, other) => ranks[one.Node].CompareTo(ranks[other.Node]));
    }

    /// <summary>
    /// The worker with the fewest items among those that can take one, and the oldest of these; null: none can. Not the given one, unless
    /// there is no other worker.
    /// </summary>
    public NodeId? Choose(NodeId? except)
    {
        Worker? chosen = null;
        bool isOnly = !_workers.Exists(one => one.Node != except && one.Concurrency > 0);
        foreach (var worker in _workers)
        {
            if (worker.Running < worker.Concurrency
                && (isOnly || worker.Node != except)
                && (chosen is null || worker.Running < chosen.Running))
            {
                chosen = worker;
            }
        }

        return chosen?.Node;
    }

    public void Begin(NodeId node) => Add(node, 1);

    public void End(NodeId node) => Add(node, -1);

    public void Clear()
    {
        _workers.Clear();
        Spare = 0;
    }

    public void Write(IBufferWriter<byte> to)
    {
        to.Write(_workers.Count);
        foreach (var worker in _workers)
        {
            to.Write(worker.Node);
            to.Write(worker.Concurrency);
            to.Write(worker.Number);
        }
    }

    /// <summary>Replaces the workers, without items. False: they are malformed.</summary>
    public bool TryRead(ref FieldReader from, Predicate<NodeId> isMember)
    {
        Clear();
        for (int left = from.ReadCount(WorkerBytes); left > 0; left--)
        {
            var node = from.ReadNode();
            int concurrency = from.ReadInt32();
            long number = from.ReadNumber();
            if (concurrency is < 0 or > MostConcurrency || !isMember(node) || Contains(node))
            {
                return false;
            }

            Set(node, concurrency, number);
        }

        return true;
    }

    private Worker? Find(NodeId node) => _workers.Find(one => one.Node == node);

    private void Add(NodeId node, int items)
    {
        if (Find(node) is { } worker)
        {
            worker.Running += items;
            CountSpare();
        }
    }

    private void CountSpare()
    {
        Spare = 0;
        foreach (var worker in _workers)
        {
            Spare += Math.Max(0, worker.Concurrency - worker.Running);
        }
    }

    private sealed class Worker(NodeId node)
    {
        public NodeId Node => node;

        public int Concurrency { get; set; }

        public long Number { get; set; }

        public int Running { get; set; }
    }
}
