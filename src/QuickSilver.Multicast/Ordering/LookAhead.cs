using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.Ordering;

// Reads what the messages of the next packets will look at on their way up, for several messages at once.
//
// With thousands of topics the objects of each are out of the cache when its next message comes. One after another, a message
// waits for some six of them in turn, and each wait is as long as a hundred instructions and more. Read for a group of
// messages before the first of them is handed up, they come at the same time: a processor goes on with the next message's
// while it waits for those of the one before. Reading needs no care: nothing is done, and the bytes are not trusted.
internal sealed class LookAhead
{
    // Fewer topics stay in the cache by themselves.
    private const int WorthIt = 512;
    // As many as a processor can wait for at once, about.
    private const int Group = 16;

    // Null until it is worth it.
    private SenderOrder?[]? _orders;
    // Kept, so that the reading is not optimized away.
    private int _touched;

    /// <summary>Of a stream's run of packets, all but the last of one length; gives how many were looked into, at least one.</summary>
    public int Into(InboundStream? stream, ReadOnlySpan<byte> packets, int length)
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
