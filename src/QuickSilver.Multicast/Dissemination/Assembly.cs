using System.Buffers;

namespace QuickSilver.Multicast.Dissemination;

// A message that spans packets, filled in order from the packet it began in. Pooled; its buffer too.
internal sealed class Assembly
{
    private byte[] _buffer = [];
    private int _have;
    private int _total;
    private ReassemblyBudget? _budget;

    public ulong TopicId { get; private set; }
    public long Sequence { get; private set; }
    // The packet whose head continues the message.
    public long NextPacket { get; private set; }
    // A copy of the start table, when the message carries one.
    public byte[] StartTable { get; private set; } = [];
    public bool IsComplete => _have == _total;
    public ReadOnlySpan<byte> Payload => _buffer.AsSpan(0, _total);

    /// <summary>Set by who keeps the message beyond the call; then Release is its duty.</summary>
    public bool IsKept { get; set; }

    public void Begin(ReassemblyBudget budget, ulong topicId, long sequence, long packet, int total, ReadOnlySpan<byte> table)
    {
        _budget = budget;
        budget.Bytes += total;
        _buffer = ArrayPool<byte>.Shared.Rent(total);
        _have = 0;
        _total = total;
        TopicId = topicId;
        Sequence = sequence;
        NextPacket = packet;
        StartTable = table.IsEmpty ? [] : table.ToArray();
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
        ArrayPool<byte>.Shared.Return(_buffer);
        _buffer = [];
        budget.Bytes -= _total;
        budget.Pool.Push(this);
    }
}

// What unfinished and held large messages may take together.
internal sealed class ReassemblyBudget(long limitBytes)
{
    public long Bytes;

    public Stack<Assembly> Pool { get; } = new();

    public bool Allows(int bytes) => Bytes + bytes <= limitBytes;

    public Assembly Rent() => Pool.TryPop(out var assembly) ? assembly : new Assembly();
}
