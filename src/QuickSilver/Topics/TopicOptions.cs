namespace QuickSilver;

/// <summary>How an endpoint opens its topic.</summary>
public sealed record TopicOptions
{
    /// <summary>What the topic promises; part of its contract. Default: <see cref="Guarantee.Reliable"/>.</summary>
    public Guarantee Guarantee { get; init; } = Guarantee.Reliable;

    /// <summary>Publish, subscribe or both. Default: both.</summary>
    public TopicAccess Access { get; init; } = TopicAccess.PublishAndSubscribe;

    /// <summary>
    /// Messages that wait for <see cref="ITopic{T}.ReadAllAsync"/> at most. 1 to 1,048,576; default 1,024; and 64 MiB of
    /// payload at most, whatever their number. While nobody reads, the oldest make room, whatever the policy, so that an
    /// endpoint nobody reads never stops a sender; the reader that comes is told of the gap. A handler that comes before any
    /// reader is given what is buffered, and from then on nothing is buffered until a reader comes.
    /// </summary>
    public int ReaderCapacity { get; init; } = 1024;

    /// <summary>What a slow reader means. Default: <see cref="SlowReaderPolicy.Wait"/>.</summary>
    public SlowReaderPolicy SlowReader { get; init; } = SlowReaderPolicy.Wait;
}

/// <summary>
/// The encoded message is larger than a message may be: 16 MiB, or less where the topic lies in many regions and the node's packet
/// memory cannot hold it once for each of them.
/// </summary>
public sealed class MessageTooLargeException : ArgumentException
{
    /// <summary>The message is larger than any may be.</summary>
    /// <param name="bytes">The encoded size in bytes.</param>
    /// <param name="limit">What a message may have at most, in bytes.</param>
    public MessageTooLargeException(long bytes, long limit)
        : this(
            $"The encoded message has {bytes:N0} bytes; a message may have {limit:N0} at most. Split it, or publish a reference to it.",
            bytes)
    {
    }

    private MessageTooLargeException(string message, long bytes)
        : base(message) => Bytes = bytes;

    /// <summary>The encoded size in bytes.</summary>
    public long Bytes { get; }

    internal static MessageTooLargeException ForNow(long bytes, long limit) => new(InWords(bytes, limit), bytes);

    /// <summary>Why packet memory can never take the message while the topic lies in as many regions as it does.</summary>
    internal static string InWords(long bytes, long limit) =>
        $"The encoded message has {bytes:N0} bytes. It takes packet memory for each region that its topic lies in now, so it may have "
        + (limit < 0 ? "none at all" : $"{limit:N0} at most")
        + $". Raise {nameof(QuickSilverOptions.BufferBytes)}, or split the message.";
}

/// <summary>The topic is open elsewhere under another contract; the message names what differs.</summary>
public sealed class ContractMismatchException(string message) : InvalidOperationException(message);
