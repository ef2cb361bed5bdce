using QuickSilver.Multicast;

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

    /// <summary>
    /// How long a reader with the policy <see cref="SlowReaderPolicy.Wait"/> may hold its topic's senders back. One that has no room for
    /// longer is dropped from the topic: it is given what is buffered, is told the range that it lost as a gap for each sender, and ends
    /// with <see cref="SlowReaderException"/>, as do all later calls of its endpoint. The senders, and the node's other endpoints of the
    /// topic, go on. 00:00:00.1 to 1.00:00:00; default: null, no limit.
    /// </summary>
    public TimeSpan? SlowReaderLimit { get; init; }
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

    private MessageTooLargeException(string message, long bytes, Exception? inner = null)
        : base(message, inner) => Bytes = bytes;

    /// <summary>The encoded size in bytes; 2 GiB where it is more than that, which nobody counts to its end.</summary>
    public long Bytes { get; }

    internal static MessageTooLargeException BeyondCounting(OverflowException overflow) => new(
        $"The encoded message has more than {int.MaxValue:N0} bytes; a message may have {MulticastOptions.MaxMessageBytes:N0} at most. "
        + "Split it, or publish a reference to it.",
        1L + int.MaxValue,
        overflow);

    internal static MessageTooLargeException ForNow(long bytes, long limit) => new(InWords(bytes, limit), bytes);

    /// <summary>Why packet memory can never take the message while the topic lies in as many regions as it does.</summary>
    internal static string InWords(long bytes, long limit) =>
        $"The encoded message has {bytes:N0} bytes. It takes packet memory for each region that its topic lies in now, so it may have "
        + (limit < 0 ? "none at all" : $"{limit:N0} at most")
        + $". Raise {nameof(QuickSilverOptions.BufferBytes)}, or split the message.";
}

/// <summary>The topic is open elsewhere under another contract; the message names what differs.</summary>
public sealed class ContractMismatchException(string message) : InvalidOperationException(message);
