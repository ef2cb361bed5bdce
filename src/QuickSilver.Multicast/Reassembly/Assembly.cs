using System.Numerics;
using System.Runtime.CompilerServices;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Environment;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Reassembly;

// A message that spans packets. Its pieces are appended in order, from the packet in which it begins. Assemblies are pooled, with their
// buffers when these are small.
internal sealed class Assembly(ReassemblyBudget budget)
{
    private byte[] _buffer = [];
    private byte[] _table = [];
    private int _tableBytes;
    private int _have;
    // The bytes of the extensions and of the payload that follows them.
    private int _total;
    private int _extensionBytes;
    private ReassemblyShare _share;

    public ulong TopicId { get; private set; }
    public long Sequence { get; private set; }
    // The packet in which the message begins.
    public long StartPacket { get; private set; }
    // The packet whose head continues the message.
    public long NextPacket { get; private set; }
    // A copy of the start table, if the message has one.
    public ReadOnlySpan<byte> StartTable => _table.AsSpan(0, _tableBytes);
    public bool IsComplete => _have == _total;
    public byte[] Buffer => _buffer;

    /// <summary>Set by a consumer that keeps the message beyond the call; that consumer then calls Release.</summary>
    public bool IsKept { get; set; }

    /// <summary>Whether it is among the open messages of its stream, so that its memory stays when a consumer releases it.</summary>
    public bool IsOpen { get; set; }

    /// <summary>Begins a message whose payload bytes were taken from this share of the budget.</summary>
    public void Begin(ReassemblyShare share, ulong topicId, long sequence, int extensionBytes, int payloadBytes)
    {
        int total = extensionBytes + payloadBytes;
        if (_buffer.Length < total)
        {
            Fit(total);
        }

        _share = share;
        _extensionBytes = extensionBytes;
        _have = 0;
        _total = total;
        TopicId = topicId;
        Sequence = sequence;
        _tableBytes = 0;
        IsKept = false;
    }

    /// <summary>Sets the packet in which the message begins, and its start table.</summary>
    public void BeginIn(long packet, ReadOnlySpan<byte> table)
    {
        StartPacket = NextPacket = packet;
        if (!table.IsEmpty)
        {
            Keep(table);
        }
    }

    /// <summary>Appends a piece. Returns false when the piece is larger than what is missing: the packets contradict each other.</summary>
    public bool Append(ReadOnlySpan<byte> piece)
    {
        if (piece.Length > _total - _have)
        {
            return false;
        }

        piece.CopyTo(_buffer.AsSpan(_have));
        _have += piece.Length;
        NextPacket++;
        budget.NotePiece();
        return true;
    }

    /// <summary>Sets the message to the complete bytes, which stay in this assembly's buffer.</summary>
    public void Deliver(ref DeliveredMessage message) =>
        message.Set(TopicId, Sequence, _buffer, _extensionBytes, _total - _extensionBytes, _extensionBytes);

    public void Release()
    {
        if (IsOpen)
        {
            IsKept = false;
            return;
        }

        budget.ReturnBytes(_share, _total - _extensionBytes);
        budget.Return(this);
    }

    /// <summary>Returns a large buffer to the pool that it was rented from. The garbage collector frees a small one.</summary>
    public void ReleaseBuffer()
    {
        if (_buffer.Length > ReassemblyBudget.MaxKeptBytes)
        {
            MessageBuffers.Return(_buffer);
        }

        _buffer = [];
    }

    private void Keep(ReadOnlySpan<byte> table)
    {
        if (_table.Length < table.Length)
        {
            budget.Heap.Ask(HeapUse.StartTable, table.Length);
            _table = new byte[table.Length];
        }

        table.CopyTo(_table);
        _tableBytes = table.Length;
    }

    // The small buffer that is replaced goes first, so that an assembly has no more than one.
    private void Fit(int bytes)
    {
        ReleaseBuffer();
        budget.Heap.Ask(HeapUse.MessageBytes, bytes);
        _buffer = bytes > ReassemblyBudget.MaxKeptBytes
            ? MessageBuffers.Rent(bytes)
            : GC.AllocateUninitializedArray<byte>((int)BitOperations.RoundUpToPowerOf2((uint)bytes));
    }
}

// The messages of one stream that wait for their next packet, by the packet in which they begin. While packets come in order there is at
// most one, which needs no table.
internal sealed class OpenAssemblies
{
    private readonly Dictionary<long, Assembly> _others = [];
    private Assembly? _newest;

    public int Count => _others.Count + (_newest is null ? 0 : 1);

    public Assembly? Find(long start) =>
        _newest is { } newest && newest.StartPacket == start ? newest : _others.Count == 0 ? null : _others.GetValueOrDefault(start);

    public void Add(Assembly assembly, NodeHeap heap)
    {
        if (_newest is { } newest)
        {
            heap.Ask(HeapUse.OpenMessage, Unsafe.SizeOf<KeyValuePair<long, Assembly>>());
            _others.Add(newest.StartPacket, newest);
        }

        assembly.IsOpen = true;
        _newest = assembly;
    }

    public void Remove(Assembly assembly)
    {
        assembly.IsOpen = false;
        if (ReferenceEquals(_newest, assembly))
        {
            _newest = null;
        }
        else
        {
            _others.Remove(assembly.StartPacket);
        }
    }

    /// <summary>The messages that satisfy the predicate, in the order in which they begin.</summary>
    public List<Assembly> Where(Predicate<Assembly> predicate)
    {
        var waiting = new List<Assembly>();
        foreach (var assembly in _others.Values)
        {
            if (predicate(assembly))
            {
                waiting.Add(assembly);
            }
        }

        if (_newest is { } newest && predicate(newest))
        {
            waiting.Add(newest);
        }

        waiting.Sort(static (one, other) => one.StartPacket.CompareTo(other.StartPacket));
        return waiting;
    }
}
