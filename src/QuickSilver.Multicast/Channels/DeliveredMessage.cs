using QuickSilver.Core.Buffers;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Channels;

// A message as it is delivered to a sink, valid during the call only. Its payload is in the buffer in which it was received or, if it
// spanned packets, reassembled. A sink that keeps the bytes must copy them.
//
// The buffer is a slab of packet memory or, of what was reassembled or parked, an array.
//
// The payload is stored as plain fields, and the struct is passed by reference from where it is first written. A Memory or Span field
// would be written in parts and then immediately copied as a whole. The processor would wait until the parts have left its store buffer,
// which takes longer than the rest of the message's processing.
internal struct DeliveredMessage(NodeKey sender)
{
    private byte[] _buffer = [];
    // Null: the bytes are in the array.
    private Slab? _slab;
    private int _offset;

    public NodeKey Sender { get; } = sender;
    public ulong TopicId { get; private set; }
    // The sender's number in this topic, from 1.
    public long Sequence { get; private set; }
    public int Length { get; private set; }
    // The length of the extension fields immediately before the payload.
    private int _extensionBytes;

    public readonly ReadOnlySpan<byte> Span => Slice(0);

    /// <summary>The data that the sender added to the message besides the payload.</summary>
    public readonly MessageExtensions Extensions => new(Slice(_extensionBytes)[.._extensionBytes]);

    /// <summary>The bytes of the extensions, followed by the payload.</summary>
    public readonly ReadOnlySpan<byte> WithExtensions => Slice(_extensionBytes);

    public readonly int ExtensionBytes => _extensionBytes;

    public readonly ReadOnlyMemory<byte> Memory =>
        _slab is { } slab ? slab.MemoryOf(_offset, Length) : new(_buffer, _offset, Length);

    /// <summary>The messages that are set after this one lie in the slab, until one is set that lies in an array.</summary>
    public void Begin(Slab slab) => _slab = slab;

    /// <summary>Sets the fields for the sender's next message, in the slab. Its extensions are immediately before the offset.</summary>
    public void Set(ulong topicId, long sequence, int offset, int length, int extensionBytes)
    {
        TopicId = topicId;
        Sequence = sequence;
        _offset = offset;
        Length = length;
        _extensionBytes = extensionBytes;
    }

    /// <summary>Sets the fields for the sender's next message, in an array. Its extensions are immediately before the offset.</summary>
    public void Set(ulong topicId, long sequence, byte[] buffer, int offset, int length, int extensionBytes = 0)
    {
        _slab = null;
        _buffer = buffer;
        Set(topicId, sequence, offset, length, extensionBytes);
    }

    // With so many bytes of the extensions before the payload.
    private readonly ReadOnlySpan<byte> Slice(int before) => _slab is { } slab
        ? slab.Slice(_offset - before, before + Length)
        : new(_buffer, _offset - before, before + Length);
}
