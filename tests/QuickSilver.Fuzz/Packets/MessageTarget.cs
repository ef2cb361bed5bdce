using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering.BestEffort;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Fuzz.Packets;

// The messages in the body of a data packet, with their start tables, extensions and headers.
internal sealed class MessageTarget : FuzzTarget
{
    public override string Name => "messages";

    public override IReadOnlyList<Type> Decoders { get; } =
    [
        typeof(MessageHeader), typeof(PacketParser), typeof(StreamMessage), typeof(MessagePreamble), typeof(StartTable),
        typeof(MessageExtensions), typeof(MessageHeaders), typeof(TopicMark),
    ];

    public override IEnumerable<Seed> Seeds()
    {
        yield return new Seed("messages", MessageSeeds.Body());
        yield return new Seed("mark", MessageSeeds.Mark());
    }

    public override void Run(ReadOnlySpan<byte> input) => ReadMessages(input, new PacketParser(input, first: 0));

    public static void ReadPacket(ReadOnlySpan<byte> packet) => ReadMessages(packet, new PacketParser(packet));

    private static void ReadMessages(ReadOnlySpan<byte> packet, PacketParser messages)
    {
        while (messages.MoveNext() && !messages.IsDamaged)
        {
            ReadTable(messages.Table);
            ReadExtensions(packet.Slice(messages.PayloadAt - messages.FieldBytes, messages.FieldBytes));
            if (messages.Continues)
            {
                return;
            }

            if (messages.Topic == MessageHeader.MarkTopic
                && TopicMark.TryRead(packet.Slice(messages.PayloadAt, messages.PayloadBytes), out var mark))
            {
                byte[] again = new byte[TopicMark.Bytes];
                mark.Write(again);
                FindingException.ThrowUnless(
                    TopicMark.TryRead(again, out var same) && same == mark && messages.Number >= long.MinValue,
                    "A mark is not what was written.");
            }
        }
    }

    private static void ReadTable(ReadOnlySpan<byte> table)
    {
        if (table.IsEmpty)
        {
            return;
        }

        foreach (long configuration in new[] { long.MinValue, 0, 5, long.MaxValue })
        {
            _ = StartTable.FirstFor(table, configuration, out _);
        }
    }

    private static void ReadExtensions(ReadOnlySpan<byte> fields)
    {
        var extensions = new MessageExtensions(fields);
        if (MessageHeaders.Of(extensions, "t") is not { } headers)
        {
            return;
        }

        _ = headers.Count;
        _ = headers["tenant"];
        _ = headers.ToString();
        _ = headers.TraceContext;
        Span<byte> again = stackalloc byte[MessageExtensions.MostBytes];
        int used = MessageHeaders.Write(again, headers, headers.PublishTime, headers.TraceContext ?? default);
        FindingException.ThrowUnless(used >= 0, "Received headers do not fit into another message.");
        var sent = MessageHeaders.Of(new MessageExtensions(again[..used]), "t");
        FindingException.ThrowUnless(
            fields.Length > MessageHeaders.MaxBytes || headers.SequenceEqual(sent ?? []), "Headers are not what was written.");
    }
}
