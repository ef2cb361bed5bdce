using System.Runtime.CompilerServices;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Reassembly;

namespace QuickSilver.Multicast.Receiving;

// One message of a stream; messages come in any order. The payload is in the packet's memory, or in Assembly if the message spanned
// packets.
internal ref struct StreamMessage(NodeKey sender)
{
    // A field, so that it can be passed on by reference.
    public DeliveredMessage Delivered = new(sender);
    public ReadOnlySpan<byte> StartTable;
    // The packet in which the message ends: a member that holds the message holds this packet.
    public long EndPacket;
    public Assembly? Assembly;

    /// <summary>
    /// Takes the start table that precedes the payload. Returns where the payload begins in the packet, or a negative number if what
    /// precedes it is damaged.
    /// </summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public int ReadPreamble(ReadOnlySpan<byte> packet, int at, MessageMarks marks, out int fieldBytes)
    {
        // Not inlined, because few messages have a preamble.
        if (!MessagePreamble.TryMeasure(packet[at..], marks, out var preamble))
        {
            fieldBytes = 0;
            return -1;
        }

        fieldBytes = preamble.FieldBytes;
        StartTable = packet.Slice(at, preamble.TableBytes);
        return at + preamble.Bytes;
    }
}

// The layer above the streams, which restores the order per topic and sender.
internal interface IStreamConsumer
{
    void OnMessage(InboundStream stream, in StreamMessage message);

    /// <summary>
    /// Called with the start table of a message that spans packets and waits for memory: where the topic begins is known without it.
    /// </summary>
    void OnBeginning(InboundStream stream, ulong topicId, ReadOnlySpan<byte> starts);

    /// <summary>
    /// Whether all beginnings of topics are known that this node holds in older streams of the stream's sender. A message with a start
    /// table waits until they are: its table lacks the views whose beginnings all members hold.
    /// </summary>
    bool KnowsOlderBeginnings(InboundStream stream);

    /// <summary>
    /// Called before some packets of the stream, all but the last of one length, so that memory that their messages need can be read
    /// ahead. Returns how many packets were examined, at least one.
    /// </summary>
    int LookAhead(InboundStream stream, ReadOnlySpan<byte> packets, int length) => int.MaxValue;

    /// <summary>
    /// Called when packets of the stream were given up, or when its sender has departed and everything available was passed on.
    /// </summary>
    void OnLoss(InboundStream stream);

    /// <summary>Called when more of the stream is stable: all members of its view hold it.</summary>
    void OnStable(InboundStream stream)
    {
    }

    /// <summary>Called when the stream can continue. The consumer calls the stream's ReadOn soon, but not from within this call.</summary>
    void OnUnread(InboundStream stream);

    /// <summary>Called when the sender of the stream is gone: the stream can be given up when it is settled.</summary>
    void OnSenderGone(InboundStream stream)
    {
    }
}
