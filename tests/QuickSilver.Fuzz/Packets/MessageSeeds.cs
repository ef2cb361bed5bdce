using System.Diagnostics;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering.BestEffort;

namespace QuickSilver.Fuzz.Packets;

// Messages as senders write them.
internal static class MessageSeeds
{
    /// <summary>A message with a start table and extensions, one with extensions, and a plain one.</summary>
    public static byte[] Body(ulong topic = 5, int payloadBytes = 10) =>
    [
        .. Message(topic, 1, payloadBytes, withTable: true, withHeaders: true),
        .. Message(topic, 2, payloadBytes, withTable: false, withHeaders: true),
        .. Message(topic, 3, payloadBytes, withTable: false, withHeaders: false),
    ];

    /// <summary>What a sender announces of a topic.</summary>
    public static byte[] Mark()
    {
        byte[] message = new byte[MessageHeader.Bytes + TopicMark.Bytes];
        MessageHeader.Write(message, TopicMark.Bytes, MessageMarks.None, MessageHeader.MarkTopic, 1);
        new TopicMark(5, 12).Write(message.AsSpan(MessageHeader.Bytes));
        return message;
    }

    private static byte[] Message(ulong topic, long number, int payloadBytes, bool withTable, bool withHeaders)
    {
        Span<byte> at = new byte[1024];
        var marks = (withTable ? MessageMarks.Start : MessageMarks.None) | (withHeaders ? MessageMarks.Extended : MessageMarks.None);
        MessageHeader.Write(at, payloadBytes, marks, topic, number);
        int used = MessageHeader.Bytes;
        if (withTable)
        {
            var table = new StartTable();
            table.Add(1, 1);
            table.Add(4, number);
            table.Write(at[used..]);
            used += table.EncodedBytes;
        }

        if (withHeaders)
        {
            Span<byte> fields = stackalloc byte[MessageExtensions.MostBytes];
            var headers = new MessageHeaders { CorrelationId = "order-17", ["tenant"] = "blue" };
            var trace = new ActivityContext(
                ActivityTraceId.CreateFromBytes([.. Enumerable.Repeat((byte)3, 16)]),
                ActivitySpanId.CreateFromBytes([.. Enumerable.Repeat((byte)4, 8)]),
                ActivityTraceFlags.Recorded);
            int length = MessageHeaders.Write(fields, headers, DateTimeOffset.UnixEpoch, trace);
            used += MessageExtensions.Write(at[used..], fields[..length]);
        }

        at.Slice(used, payloadBytes).Fill(0x2A);
        return at[..(used + payloadBytes)].ToArray();
    }
}
