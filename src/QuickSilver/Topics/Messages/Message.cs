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
    private readonly MessageOrigin _origin;

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
        get => _origin.Headers;
        init => _origin = _origin.WithHeaders(value);
    }

    /// <summary>
    /// The name of the topic in which the message was published. For a request, the name that requesters and responders have in common.
    /// Empty in a message that the application created without one. It is the same object for all messages of an endpoint.
    /// </summary>
    public string Topic
    {
        get => _origin.Topic;
        init => _origin = _origin.WithTopic(value);
    }

    /// <summary>The topic and the headers.</summary>
    internal MessageOrigin Origin
    {
        get => _origin;
        init => _origin = value;
    }

    /// <summary>
    /// Initializes a message without a payload. The payload is undefined until it is written to the reference that this returns.
    /// </summary>
    internal static ref T Begin(ref Message<T> message, NodeId sender, long sequence, MessageOrigin origin)
    {
        Unsafe.AsRef(in message._sender) = sender;
        Unsafe.AsRef(in message._sequence) = sequence;
        Unsafe.AsRef(in message._origin) = origin;
        return ref Unsafe.AsRef(in message._value);
    }
}

// The topic of a message, and its headers if it has some, in one reference: the topic's name, or headers that know it. So a message is no
// larger for its topic, and one without headers allocates nothing: the name is an object that its endpoint has anyway.
internal readonly record struct MessageOrigin
{
    // Null in a message that an application made without either.
    private readonly object? _topicOrHeaders;

    public MessageOrigin(string topic) => _topicOrHeaders = topic;

    /// <summary>Received headers, which know their topic, or those of an application, which may not.</summary>
    public MessageOrigin(MessageHeaders headers) => _topicOrHeaders = headers;

    public string Topic => (_topicOrHeaders is MessageHeaders headers ? headers.Topic : (string?)_topicOrHeaders) ?? "";

    public MessageHeaders? Headers => _topicOrHeaders as MessageHeaders;

    /// <summary>
    /// Whether there is this topic and nothing else. It compares references and reads neither object: with thousands of topics, each object
    /// that a message must read costs. It may be false for an equal name.
    /// </summary>
    public bool IsOnly(string topic) => ReferenceEquals(_topicOrHeaders, topic);

    public MessageOrigin WithTopic(string topic)
    {
        ArgumentNullException.ThrowIfNull(topic);
        return Headers is { } headers ? new MessageOrigin(headers.In(topic)) : new MessageOrigin(topic);
    }

    public MessageOrigin WithHeaders(MessageHeaders? headers) => headers is null
        ? new MessageOrigin(Topic)
        : new MessageOrigin(Topic.Length == 0 ? headers : headers.In(Topic));

    // Headers are equal whatever message they are in.
    public bool Equals(MessageOrigin other) => Topic == other.Topic && Equals(Headers, other.Headers);

    public override int GetHashCode() => HashCode.Combine(Topic, Headers);
}
