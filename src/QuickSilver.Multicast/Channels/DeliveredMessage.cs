using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Channels;

// A message as it is delivered to a sink, valid during the call only. Its payload is in the buffer in which it was received or, if it
// spanned packets, reassembled. A sink that keeps the bytes must copy them.
//
// The payload is stored as three plain fields, and the struct is passed by reference from where it is first written. A Memory or Span field
// would be written in parts and then immediately copied as a whole. The processor would wait until the parts have left its store buffer,
// which takes longer than the rest of the message's processing.
internal struct DeliveredMessage(NodeKey sender)
{
    private byte[] _buffer = [];
    private int _offset;

    public NodeKey Sender { get; } = sender;
    public ulong TopicId { get; private set; }
    // The sender's number in this topic, from 1.
    public long Sequence { get; private set; }
    public int Length { get; private set; }
    // The length of the extension fields immediately before the payload.
    private int _extensionBytes;

    public readonly ReadOnlySpan<byte> Span => new(_buffer, _offset, Length);

    /// <summary>The data that the sender added to the message besides the payload.</summary>
    public readonly MessageExtensions Extensions => new(new ReadOnlySpan<byte>(_buffer, _offset - _extensionBytes, _extensionBytes));

    /// <summary>The bytes of the extensions, followed by the payload.</summary>
    public readonly ReadOnlySpan<byte> WithExtensions => new(_buffer, _offset - _extensionBytes, _extensionBytes + Length);

    public readonly int ExtensionBytes => _extensionBytes;

    public readonly ReadOnlyMemory<byte> Memory => new(_buffer, _offset, Length);

    /// <summary>Sets the fields for the sender's next message. Its extensions are immediately before the offset.</summary>
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
