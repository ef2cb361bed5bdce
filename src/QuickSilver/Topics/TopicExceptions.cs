using QuickSilver.Multicast;

namespace QuickSilver;

/// <summary>
/// The exception that is thrown when an encoded message is larger than the limit: 16 MiB, or less if the topic has many regions and the
/// node's packet memory cannot hold the message once for each of them.
/// </summary>
public sealed class MessageTooLargeException : QuickSilverException
{
    /// <summary>Initializes the exception for a message above the general limit.</summary>
    /// <param name="bytes">The encoded size in bytes.</param>
    /// <param name="limit">The maximum size in bytes.</param>
    public MessageTooLargeException(long bytes, long limit)
        : this(
            $"The encoded message has {bytes:N0} bytes. The limit is {limit:N0}. Split the message, or publish a reference to the data.",
            bytes,
            limit)
    {
    }

    private MessageTooLargeException(string message, long bytes, long limit, Exception? inner = null)
        : base(message, inner)
    {
        Bytes = bytes;
        Limit = limit;
    }

    /// <summary>The encoded size in bytes, or 2 GiB if it is larger than that.</summary>
    public long Bytes { get; }

    /// <summary>The maximum size in bytes.</summary>
    public long Limit { get; }

    /// <summary>Throws for a message above the general limit.</summary>
    internal static void ThrowIfOver(int bytes)
    {
        if (bytes > MulticastOptions.MaxMessageBytes)
        {
            throw new MessageTooLargeException(bytes, MulticastOptions.MaxMessageBytes);
        }
    }

    internal static MessageTooLargeException BeyondCounting(OverflowException overflow) => new(
        $"The encoded message has more than {int.MaxValue:N0} bytes. The limit is {MulticastOptions.MaxMessageBytes:N0}. "
        + "Split the message, or publish a reference to the data.",
        1L + int.MaxValue,
        MulticastOptions.MaxMessageBytes,
        overflow);

    internal static MessageTooLargeException ForNow(long bytes, long limit) =>
        new(InWords(bytes, limit), bytes, Math.Max(0, limit));

    /// <summary>The exception message for a payload that packet memory cannot hold for each of the topic's regions.</summary>
    internal static string InWords(long bytes, long limit) =>
        $"The encoded message has {bytes:N0} bytes. It needs packet memory for each region of its topic, so the limit is now "
        + (limit < 0 ? "0" : $"{limit:N0}")
        + $". Raise {nameof(QuickSilverOptions.Limits)}:{nameof(NodeLimits.BufferBytes)}, or split the message.";
}

/// <summary>
/// The exception that is thrown when the topic is open elsewhere with a contract that does not match. The message names the difference, and
/// a node that has the topic open with the other contract.
/// </summary>
public sealed class ContractMismatchException : QuickSilverException
{
    /// <summary>Initializes the exception.</summary>
    /// <param name="topic">The name of the topic.</param>
    /// <param name="difference">What differs, in one or more sentences.</param>
    // Strangers whose topic has the same name are as likely as an endpoint that is wrong.
    public ContractMismatchException(string topic, string difference)
        : this(
            topic,
            difference,
            $"{difference?.TrimEnd('.')}. Make the types and options of all endpoints of the topic agree. If the other endpoints "
            + $"belong to another system, give this one a {nameof(QuickSilverOptions.Cluster)} of its own.")
    {
    }

    private ContractMismatchException(string topic, string difference, string message)
        : base(message)
    {
        Topic = topic;
        Difference = difference;
    }

    /// <summary>The name of the topic.</summary>
    public string Topic { get; }

    /// <summary>What differs, in one or more sentences.</summary>
    public string Difference { get; }

    internal static ContractMismatchException SameHash(string topic, string other)
    {
        string difference = $"Topics \"{topic}\" and \"{other}\" have the same hash.";
        return new ContractMismatchException(topic, difference, $"{difference} Rename one of them.");
    }
}
