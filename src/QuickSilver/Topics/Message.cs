using System.Runtime.CompilerServices;

namespace QuickSilver;

/// <summary>A received message. It is a struct, so receiving allocates only the value.</summary>
/// <typeparam name="T">The topic's payload type.</typeparam>
/// <param name="Value">
/// The payload. One of <see cref="ReadOnlyMemory{T}"/> of bytes is lent: in a handler it is valid until the handler returns, in a consumer
/// until its call has completed, and in a reader until the next message is requested. Then its bytes are those of another message. Copy
/// what you keep, or use <c>byte[]</c> as the payload type, which is the same contract. Other payloads have memory of their own.
/// </param>
/// <param name="Sender">The incarnation of the node that published the message.</param>
/// <param name="Sequence">The message's number among that sender's messages in this topic, starting at 1.</param>
public readonly record struct Message<T>(T Value, NodeId Sender, long Sequence)
{
    // Fields, so that a large struct is decoded where it is handed over: it is neither copied nor cleared before.
    private readonly T _value = Value;
    private readonly NodeId _sender = Sender;
    private readonly long _sequence = Sequence;
    private readonly MessageHeaders? _headers;

    /// <summary>The payload.</summary>
    public T Value
    {
        get => _value;
        init => _value = value;
    }

    /// <summary>The incarnation of the node that published the message.</summary>
    public NodeId Sender
    {
        get => _sender;
        init => _sender = value;
    }

    /// <summary>The message's number among that sender's messages in this topic, starting at 1.</summary>
    public long Sequence
    {
        get => _sequence;
        init => _sequence = value;
    }

    /// <summary>
    /// What the publisher added to the message besides the payload. Null if it added nothing, so that such messages cost nothing more.
    /// </summary>
    public MessageHeaders? Headers
    {
        get => _headers;
        init => _headers = value;
    }

    /// <summary>
    /// Initializes a message without a payload. The payload is undefined until it is written to the reference that this returns.
    /// </summary>
    internal static ref T Begin(ref Message<T> message, NodeId sender, long sequence, MessageHeaders? headers)
    {
        Unsafe.AsRef(in message._sender) = sender;
        Unsafe.AsRef(in message._sequence) = sequence;
        Unsafe.AsRef(in message._headers) = headers;
        return ref Unsafe.AsRef(in message._value);
    }
}
