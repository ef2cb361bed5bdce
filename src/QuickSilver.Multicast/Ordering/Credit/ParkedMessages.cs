using QuickSilver.Core.Buffers;
using QuickSilver.Core.Environment;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Ordering.Credit;

// Parked messages: messages of one sender in one topic that are in order and for which the sink has no room. They are copied out of their
// packets, so that a slow reader retains neither the packets nor the sender's window, which other topics share.
//
// The parked messages are those that were in flight when the reader ran out of room, and later the few that the sender may be ahead of the
// reader (SlowReaders).
// The bytes are limited for each sender and topic, and for the node. A message that exceeds a limit stays in its packet.
internal sealed class ParkedMessages(ParkingBudget budget)
{
    private const int ChunkBytes = 64 << 10;

    private readonly Queue<(byte[] Chunk, int Offset, int Length, int ExtensionBytes)> _messages = new();
    // The chunk with the newest message. It is returned to the pool when another chunk replaces it and no message in it waits.
    private byte[] _chunk = [];
    private int _used;
    private int _inChunk;
    private long _bytes;

    public int Count => _messages.Count;

    /// <summary>What they take of the budget.</summary>
    public long Bytes => _bytes;

    public bool TryAdd(in DeliveredMessage message)
    {
        var bytes = message.WithExtensions;
        if (!budget.TryTake(_bytes, bytes.Length))
        {
            return false;
        }

        try
        {
            Put(bytes, message.ExtensionBytes);
        }
        catch (OutOfMemoryException)
        {
            budget.Return(bytes.Length);
            budget.WasRefused = true;
            return false;
        }

        _used += bytes.Length;
        _inChunk++;
        _bytes += ParkingBudget.Cost(bytes.Length);
        return true;
    }

    /// <summary>Gets the oldest message. Its bytes are valid until it is removed.</summary>
    public void Peek(ref DeliveredMessage message, ulong topicId, long number)
    {
        var (chunk, offset, length, extensionBytes) = _messages.Peek();
        message.Set(topicId, number, chunk, offset + extensionBytes, length - extensionBytes, extensionBytes);
    }

    public void Remove()
    {
        var (chunk, _, length, _) = _messages.Dequeue();
        _bytes -= ParkingBudget.Cost(length);
        budget.Return(length);
        if (ReferenceEquals(chunk, _chunk))
        {
            _inChunk--;
        }
        else if (_messages.Count == 0 || !ReferenceEquals(_messages.Peek().Chunk, chunk))
        {
            MessageBuffers.Return(chunk);
        }

        if (_messages.Count == 0)
        {
            LeaveChunk();
        }
    }

    public void Clear()
    {
        while (_messages.Count > 0)
        {
            Remove();
        }
    }

    private void Put(ReadOnlySpan<byte> bytes, int extensionBytes)
    {
        if (_chunk.Length == 0 || _chunk.Length - _used < bytes.Length)
        {
            int size = Math.Max(ChunkBytes, bytes.Length);
            budget.Heap.Ask(HeapUse.ParkedBytes, size);
            byte[] chunk = MessageBuffers.Rent(size);
            LeaveChunk();
            _chunk = chunk;
        }

        bytes.CopyTo(_chunk.AsSpan(_used));
        budget.Heap.Ask(HeapUse.ParkedMessage, ParkingBudget.Cost(0));
        _messages.Enqueue((_chunk, _used, bytes.Length, extensionBytes));
    }

    private void LeaveChunk()
    {
        if (_inChunk == 0 && _chunk.Length > 0)
        {
            MessageBuffers.Return(_chunk);
        }

        _chunk = [];
        _used = 0;
        _inChunk = 0;
    }
}

// The limits of the heap memory that parked messages may use.
internal sealed class ParkingBudget(long perSenderAndTopic, long limit, NodeHeap heap)
{
    // The size of a queue entry.
    private const int PlaceBytes = 32;

    public long Bytes { get; private set; }

    public NodeHeap Heap => heap;

    /// <summary>Whether the last message was not parked because the heap had no memory.</summary>
    public bool WasRefused { get; set; }

    /// <summary>
    /// Whether there is room for more credit. The rest is for what is in flight: a message that finds no room holds back other topics.
    /// </summary>
    public bool HasPlenty(long parked) => parked <= perSenderAndTopic / 4 * 3 && Bytes <= limit / 4 * 3;

    public static long Cost(int bytes) => bytes + PlaceBytes;

    public bool TryTake(long parked, int bytes)
    {
        long cost = Cost(bytes);
        WasRefused = false;
        if (parked + cost > perSenderAndTopic || Bytes + cost > limit)
        {
            return false;
        }

        Bytes += cost;
        return true;
    }

    public void Return(int bytes) => Bytes -= Cost(bytes);
}
