using QuickSilver.Serialization;

namespace QuickSilver;

/// <summary>The options of a responder. It takes a copy when it is opened, so a later change has no effect.</summary>
public class ResponderOptions
{
    /// <summary>Initializes the options with the defaults.</summary>
    public ResponderOptions()
    {
    }

    private protected ResponderOptions(ResponderOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        Concurrency = options.Concurrency;
        Inline = options.Inline;
        Capacity = options.Capacity;
    }

    /// <summary>
    /// The maximum number of requests that are handled at the same time: 1 to 1,024; default 16. The part of the handler before its first
    /// wait runs for one request at a time, in the order of delivery.
    /// </summary>
    public int Concurrency { get; set; } = 16;

    /// <summary>
    /// Whether the handler is called inline, on the node's core thread, with the lowest latency. It must then not block or wait: while it
    /// runs, the node does nothing else. Requests do not wait to be handled. If one does wait in spite of that, and so do as many others
    /// as <see cref="Concurrency"/> allows, its requester learns that the responder is busy. Default: false, it is called outside the core
    /// thread and may wait.
    /// </summary>
    public bool Inline { get; set; }

    /// <summary>
    /// The maximum number of requests that wait to be handled: 1 to 1,048,576; default 1,024. A request whose deadline passes while it
    /// waits here is not handled. When there are as many, requesters wait to send more. The deadline of such a request may pass before it
    /// comes here, and it is handled all the same: clocks of two nodes cannot be compared, so its time left counts from its arrival.
    /// </summary>
    public int Capacity { get; set; } = 1024;

    /// <summary>A copy, with the codecs if this has any.</summary>
    internal ResponderOptions Copy() => (ResponderOptions)MemberwiseClone();
}

/// <summary>The options of a responder, with the codecs of its types. It takes a copy when it is opened.</summary>
/// <typeparam name="TRequest">The type of the requests.</typeparam>
/// <typeparam name="TReply">The type of the answers.</typeparam>
public sealed class ResponderOptions<TRequest, TReply> : ResponderOptions
{
    /// <summary>Initializes the options with the defaults.</summary>
    public ResponderOptions()
    {
    }

    /// <summary>Initializes the options with others.</summary>
    /// <param name="options">The options that are copied.</param>
    public ResponderOptions(ResponderOptions options)
        : base(options)
    {
    }

    /// <summary>The codec of requests. Null (default): the codec of the type, for bytes, string, or a <c>[DataContract]</c> type.</summary>
    public IPayloadCodec<TRequest>? RequestCodec { get; set; }

    /// <summary>The codec of answers. Null (default): the codec of the type, for bytes, string, or a <c>[DataContract]</c> type.</summary>
    public IPayloadCodec<TReply>? ReplyCodec { get; set; }
}
