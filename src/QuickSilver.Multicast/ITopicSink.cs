using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast;

// One message as it is handed up, valid during the call only. Its payload lies where it was received, or where it was put
// together when it spanned packets: who keeps the bytes copies them.
//
// The payload is kept as three plain fields, and the whole is passed on by reference from where it is first written. A memory
// or span in its place would be written in parts and copied as a whole at once, for which a processor waits until the parts
// have left its store buffer: longer than the rest of a message's way takes.
internal struct DeliveredMessage(NodeKey sender)
{
    private byte[] _buffer = [];
    private int _offset;

    public NodeKey Sender { get; } = sender;
    public ulong TopicId { get; private set; }
    // The sender's number in this topic, from 1.
    public long Sequence { get; private set; }
    public int Length { get; private set; }
    // Of the fields that stand right before the payload.
    private int _extensionBytes;

    public readonly ReadOnlySpan<byte> Span => new(_buffer, _offset, Length);

    /// <summary>What the sender said of the message beside its payload.</summary>
    public readonly MessageExtensions Extensions => new(new ReadOnlySpan<byte>(_buffer, _offset - _extensionBytes, _extensionBytes));

    /// <summary>The bytes of the extensions, and of the payload after them.</summary>
    public readonly ReadOnlySpan<byte> WithExtensions => new(_buffer, _offset - _extensionBytes, _extensionBytes + Length);

    public readonly int ExtensionBytes => _extensionBytes;

    public readonly ReadOnlyMemory<byte> Memory => new(_buffer, _offset, Length);

    /// <summary>Makes it the sender's next message; its extensions stand right before the offset.</summary>
    public void Set(ulong topicId, long sequence, byte[] buffer, int offset, int length, int extensionBytes = 0)
    {
        TopicId = topicId;
        Sequence = sequence;
        _buffer = buffer;
        _offset = offset;
        Length = length;
        _extensionBytes = extensionBytes;
    }
}

// Why a range of messages does not come.
internal enum TopicGapReason
{
    // Nobody who is left has them.
    SenderGone = 0,
    // They were sent while this node was in another cluster than the sender.
    SentElsewhere = 1,
    // Lost, and the topic does not repair.
    Unrepaired = 2,
}

// A range of a sender's messages in a topic that this subscriber will never get, ends included.
internal readonly record struct TopicGap(NodeKey Sender, ulong TopicId, long First, long Last, TopicGapReason Reason);

// A range of a sender's messages that came, and that the subscription had no room for so far, ends included.
internal readonly record struct UntakenRange(NodeKey Sender, long First, long Last);

// Where a subscription's messages go. Core thread; must not block.
internal interface ITopicSink
{
    /// <summary>False: no room. The message stays below, unacknowledged, and comes again after TopicReceiver.Resume.</summary>
    bool TryAccept(in DeliveredMessage message);

    /// <summary>Who may be given the messages straight, with nothing between; null: nobody, or not now.</summary>
    IDirectSink? Direct => null;

    void OnGap(in TopicGap gap);
}

// The one consumer of a subscription, while it is the only one and nothing is owed to it. Core thread; throws nothing.
internal interface IDirectSink
{
    /// <summary>False: it is not that one any more. The message goes to the sink.</summary>
    bool TryTake(in DeliveredMessage message);

    /// <summary>Reads what <see cref="TryTake"/> will, so that it is in the cache then; gives something of it.</summary>
    int Touch();
}

// Told once when a message is stable: every subscriber of the view it was sent in holds it, or was removed from the view.
internal interface IStabilityObserver
{
    void OnStable(long sequence);

    /// <summary>The message cannot become stable any more (the node stops, or was expelled).</summary>
    void OnAbandoned(long sequence, string reason);
}
