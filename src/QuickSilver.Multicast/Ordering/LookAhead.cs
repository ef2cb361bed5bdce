using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.Ordering;

// Prefetches the objects that the messages of the next packets will need for their delivery, for a group of messages at once.
//
// With thousands of topics, the objects of a topic are not in the processor's cache when its next message arrives. If messages are
// processed one after another, each waits for about six of them in turn, and each cache miss takes as long as a hundred instructions or
// more. If the objects of a group of messages are read before the first message is delivered, the cache misses overlap, because the
// processor continues with the next message while it waits for the memory of the one before. The reading has no side effects, and does not
// trust the bytes of the packets.
internal sealed class LookAhead
{
    // The objects of fewer topics stay in the cache without a prefetch.
    private const int WorthIt = 512;
    // About the number of cache misses that a processor can have outstanding.
    private const int Group = 16;

    // Null until a stream has WorthIt topics.
    private SenderOrder?[]? _orders;
    // Stored, so that the compiler does not remove the reads.
    private int _touched;

    /// <summary>Reads ahead in a run of packets of a stream, which all have the same length except the last.</summary>
    /// <returns>The number of packets that were examined, at least one.</returns>
    public int Into(ConsumedStream? stream, ReadOnlySpan<byte> packets, int length)
    {
        if (stream is null || StreamOrders.Of(stream) is not { Count: >= WorthIt } orders)
        {
            return int.MaxValue;
        }

        var group = _orders ??= new SenderOrder?[Group];
        int looked = 0;
        int messages = 0;
        while (messages < Group && packets.Length > PacketHeader.Bytes)
        {
            var packet = packets[..Math.Min(length, packets.Length)];
            messages = Find(orders, packet, group, messages);
            packets = packets[packet.Length..];
            looked++;
        }

        int touched = 0;
        foreach (var order in group.AsSpan(0, messages))
        {
            touched += order is null ? 0 : order.Touch();
        }

        _touched = touched;
        return Math.Max(looked, 1);
    }

    private static int Find(StreamOrders orders, ReadOnlySpan<byte> packet, SenderOrder?[] group, int messages)
    {
        var rest = packet[Math.Min(PacketHeader.Bytes + new PacketHeader(packet).HeadBytes, packet.Length)..];
        while (messages < Group && MessageHeader.TryRead(rest, out int bytes, out var marks, out ulong topicId, out _)
            && marks == MessageMarks.None)
        {
            group[messages++] = orders.Find(topicId);
            rest = rest[Math.Min(MessageHeader.Bytes + bytes, rest.Length)..];
        }

        return messages;
    }
}
