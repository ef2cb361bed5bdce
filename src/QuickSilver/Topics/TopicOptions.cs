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

/// <summary>The encoded message is larger than a message may be (16 MiB).</summary>
public sealed class MessageTooLargeException(long bytes, long limit)
    : ArgumentException(
        $"The encoded message has {bytes:N0} bytes; a message may have {limit:N0} at most. Split it, or publish a reference to it.")
{
    /// <summary>The encoded size in bytes.</summary>
    public long Bytes { get; } = bytes;
}

/// <summary>The topic is open elsewhere under another contract; the message names what differs.</summary>
public sealed class ContractMismatchException(string message) : InvalidOperationException(message);
