using System.Runtime.CompilerServices;
using QuickSilver.Core.Environment;
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

// The stream of one sender in one view, as the layer above sees it: whose it is, how far it has come, and which of its packets contain
// messages that are kept above.
internal abstract class ConsumedStream(RegionView view, StreamKey key)
{
    public RegionView View { get; } = view;

    public StreamKey Key { get; } = key;

    public NodeKey Sender => Key.Sender;

    public StreamClass Class => Key.Class;

    public bool IsReliable => Class.IsReliable;

    /// <summary>
    /// The stream whose packets show what was sent in this one: itself or, of a best-effort stream, the one with its marks.
    /// </summary>
    public StreamKey ReliableKey => IsReliable ? Key : new StreamKey(Sender, StreamClass.Reliable);

    /// <summary>State of the layer above; only that layer uses it.</summary>
    public object? Above { get; set; }

    public abstract NodeHeap Heap { get; }

    /// <summary>The sender is not in the directory: only other members can supply what is missing.</summary>
    public abstract bool IsSenderGone { get; }

    /// <summary>The highest number that came or is missing.</summary>
    public abstract long Arrived { get; }

    /// <summary>All packets up to here were received or given up.</summary>
    public abstract long Contiguous { get; }

    /// <summary>All live members hold the packets up to here.</summary>
    public abstract long Stable { get; }

    /// <summary>
    /// Whether all packets up to this one came, were parsed or given up, and no message that begins before it waits for memory.
    /// </summary>
    public abstract bool HasRead(long packet);

    /// <summary>
    /// Whether packets up to this one are not parsed yet, or messages in them wait for memory. If so, the loss is reported above again when
    /// that is less.
    /// </summary>
    public abstract bool AwaitReadThrough(long packet);

    /// <summary>The layer above keeps a message that ends in this packet.</summary>
    public abstract void Hold(long packet);

    /// <summary>The layer above has accepted or dropped a message that it kept.</summary>
    public abstract void Unhold(long packet);

    /// <summary>Continues with the packets that were held up. The layer above calls this after OnUnread.</summary>
    public abstract void ReadOn();
}

// The layer above the streams, which restores the order per topic and sender.
internal interface IStreamConsumer
{
    void OnMessage(ConsumedStream stream, in StreamMessage message);

    /// <summary>
    /// Called with the start table of a message that spans packets and waits for memory: where the topic begins is known without it.
    /// </summary>
    void OnBeginning(ConsumedStream stream, ulong topicId, ReadOnlySpan<byte> starts);

    /// <summary>
    /// Whether all beginnings of topics are known that this node holds in older streams of the stream's sender. A message with a start
    /// table waits until they are: its table lacks the views whose beginnings all members hold.
    /// </summary>
    bool KnowsOlderBeginnings(ConsumedStream stream);

    /// <summary>
    /// Called before some packets of the stream, all but the last of one length, so that memory that their messages need can be read
    /// ahead. Returns how many packets were examined, at least one.
    /// </summary>
    int LookAhead(ConsumedStream stream, ReadOnlySpan<byte> packets, int length) => int.MaxValue;

    /// <summary>
    /// Called when packets of the stream were given up, or when its sender has departed and everything available was passed on.
    /// </summary>
    void OnLoss(ConsumedStream stream);

    /// <summary>Called when more of the stream is stable: all members of its view hold it.</summary>
    void OnStable(ConsumedStream stream)
    {
    }

    /// <summary>Called when the stream can continue. The consumer calls the stream's ReadOn soon, but not from within this call.</summary>
    void OnUnread(ConsumedStream stream);

    /// <summary>Called when the sender of the stream is gone: the stream can be given up when it is settled.</summary>
    void OnSenderGone(ConsumedStream stream)
    {
    }
}
