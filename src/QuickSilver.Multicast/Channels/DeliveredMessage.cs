using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Channels;

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
