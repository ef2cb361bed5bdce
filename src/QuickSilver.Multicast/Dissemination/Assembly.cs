using System.Buffers;
using System.Numerics;

namespace QuickSilver.Multicast.Dissemination;

// A message that spans packets, filled in order from the packet it began in. Pooled, with its buffer when that is small.
internal sealed class Assembly
{
    private byte[] _buffer = [];
    private byte[] _table = [];
    private int _tableBytes;
    private int _have;
    private int _total;
    private ReassemblyBudget? _budget;

    public ulong TopicId { get; private set; }
    public long Sequence { get; private set; }
    // The packet in which the message begins.
    public long StartPacket { get; private set; }
    // The packet whose head continues the message.
    public long NextPacket { get; private set; }
    // A copy of the start table, when the message carries one.
    public ReadOnlySpan<byte> StartTable => _table.AsSpan(0, _tableBytes);
    public bool IsComplete => _have == _total;
    // The payload lies at its beginning.
    public byte[] Buffer => _buffer;
    public int TotalBytes => _total;

    /// <summary>Set by who keeps the message beyond the call; then Release is its duty.</summary>
    public bool IsKept { get; set; }

    public void Begin(ReassemblyBudget budget, ulong topicId, long sequence, long packet, int total, ReadOnlySpan<byte> table)
    {
        _budget = budget;
        budget.Bytes += total;
        if (_buffer.Length < total)
        {
            Fit(total);
        }

        _have = 0;
        _total = total;
        TopicId = topicId;
        Sequence = sequence;
        StartPacket = packet;
        NextPacket = packet;
        _tableBytes = table.Length;
        if (_table.Length < table.Length)
        {
            _table = new byte[table.Length];
        }

        table.CopyTo(_table);
        IsKept = false;
    }

    /// <summary>False when the piece is larger than what is missing: the packets contradict each other.</summary>
    public bool Append(ReadOnlySpan<byte> piece)
    {
        if (piece.Length > _total - _have)
        {
            return false;
        }

        piece.CopyTo(_buffer.AsSpan(_have));
        _have += piece.Length;
        NextPacket++;
        return true;
    }

    public void Release()
    {
        var budget = _budget!;
        _budget = null;
        budget.Bytes -= _total;
        budget.Return(this);
    }

    /// <summary>Gives a large buffer back to where it was rented; a small one is the collector's.</summary>
    public void LetBufferGo()
    {
        if (_buffer.Length > ReassemblyBudget.MaxKeptBytes)
        {
            ArrayPool<byte>.Shared.Return(_buffer);
        }

        _buffer = [];
    }

    private void Fit(int bytes)
    {
        LetBufferGo();
        _buffer = bytes > ReassemblyBudget.MaxKeptBytes
            ? ArrayPool<byte>.Shared.Rent(bytes)
            : GC.AllocateUninitializedArray<byte>((int)BitOperations.RoundUpToPowerOf2((uint)bytes));
    }
}

// What unfinished and held large messages may take together.
internal sealed class ReassemblyBudget(long limitBytes)
{
    // A buffer up to this size stays with its assembly, as long as those that wait in the pool have no more than this together.
    public const int MaxKeptBytes = 16 << 10;
    private const long MaxPooledBytes = 16 << 20;
    // What is held back when a packet of a full window is lost: that is not to cost an allocation a message.
    private const int MaxPooled = 1 << 14;

    private readonly Stack<Assembly> _pool = new();
    private long _pooledBytes;

    public long Bytes;

    public bool Allows(int bytes) => Bytes + bytes <= limitBytes;

    public Assembly Rent()
    {
        if (!_pool.TryPop(out var assembly))
        {
            return new Assembly();
        }

        _pooledBytes -= assembly.Buffer.Length;
        return assembly;
    }

    public void Return(Assembly assembly)
    {
        if (assembly.Buffer.Length > MaxKeptBytes || _pooledBytes + assembly.Buffer.Length > MaxPooledBytes)
        {
            assembly.LetBufferGo();
        }

        if (_pool.Count < MaxPooled)
        {
            _pooledBytes += assembly.Buffer.Length;
            _pool.Push(assembly);
        }
    }
}

// The messages of one stream that wait for their next packet, by the packet they began in. While packets come in order there
// is one at most, and it needs no table.
internal sealed class OpenAssemblies
{
    private readonly Dictionary<long, Assembly> _others = [];
    private Assembly? _newest;

    public Assembly? Find(long start) =>
        _newest is { } newest && newest.StartPacket == start ? newest : _others.Count == 0 ? null : _others.GetValueOrDefault(start);

    public void Add(Assembly assembly)
    {
        if (_newest is { } newest)
        {
            _others.Add(newest.StartPacket, newest);
        }

        _newest = assembly;
    }

    public void Remove(Assembly assembly)
    {
        if (ReferenceEquals(_newest, assembly))
        {
            _newest = null;
        }
        else
        {
            _others.Remove(assembly.StartPacket);
        }
    }

    /// <summary>Those that wait for a packet of which this is true, in the order in which they began.</summary>
    public List<Assembly> WaitingFor(Predicate<long> packet)
    {
        var waiting = new List<Assembly>();
        foreach (var assembly in _others.Values)
        {
            if (packet(assembly.NextPacket))
            {
                waiting.Add(assembly);
            }
        }

        if (_newest is { } newest && packet(newest.NextPacket))
        {
            waiting.Add(newest);
        }

        waiting.Sort(static (one, other) => one.StartPacket.CompareTo(other.StartPacket));
        return waiting;
    }
}
