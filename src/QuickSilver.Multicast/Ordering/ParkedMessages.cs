using System.Buffers;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Ordering;

// Messages of one sender in one topic that are in order, and for which there is no room above: copied out of their packets, so that
// a reader that waits does not keep the packets, nor the sender's window, which other topics share.
//
// What comes here is what was on the way when the reader had no room any more: its sender waits as soon as it is told
// (SlowReaders). Bounded for each sender and topic, and for the node; what finds no place stays in its packet.
internal sealed class ParkedMessages(ParkingBudget budget)
{
    private const int ChunkBytes = 64 << 10;

    private readonly Queue<(byte[] Chunk, int Offset, int Length, int ExtensionBytes)> _messages = new();
    // Where the newest lies; returned when it is left and nothing in it waits.
    private byte[] _chunk = [];
    private int _used;
    private int _inChunk;
    private long _bytes;

    public int Count => _messages.Count;

    public bool TryAdd(in DeliveredMessage message)
    {
        var bytes = message.WithExtensions;
        if (!budget.TryTake(_bytes, bytes.Length))
        {
            return false;
        }

        if (_chunk.Length == 0 || _chunk.Length - _used < bytes.Length)
        {
            LeaveChunk();
            _chunk = ArrayPool<byte>.Shared.Rent(Math.Max(ChunkBytes, bytes.Length));
        }

        bytes.CopyTo(_chunk.AsSpan(_used));
        _messages.Enqueue((_chunk, _used, bytes.Length, message.ExtensionBytes));
        _used += bytes.Length;
        _inChunk++;
        _bytes += ParkingBudget.Cost(bytes.Length);
        return true;
    }

    /// <summary>The oldest; its bytes are valid until it is removed.</summary>
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
            ArrayPool<byte>.Shared.Return(chunk);
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

    private void LeaveChunk()
    {
        if (_inChunk == 0 && _chunk.Length > 0)
        {
            ArrayPool<byte>.Shared.Return(_chunk);
        }

        _chunk = [];
        _used = 0;
        _inChunk = 0;
    }
}

// What all messages that wait so may take, on the heap.
internal sealed class ParkingBudget(long perSenderAndTopic, long limit)
{
    // A message's place in the queue.
    private const int PlaceBytes = 32;

    public long Bytes { get; private set; }

    public static long Cost(int bytes) => bytes + PlaceBytes;

    public bool TryTake(long parked, int bytes)
    {
        long cost = Cost(bytes);
        if (parked + cost > perSenderAndTopic || Bytes + cost > limit)
        {
            return false;
        }

        Bytes += cost;
        return true;
    }

    public void Return(int bytes) => Bytes -= Cost(bytes);
}
