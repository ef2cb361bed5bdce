using QuickSilver.Multicast.Channels;

namespace QuickSilver;

/// <summary>Why messages cannot be delivered to an endpoint.</summary>
public enum GapReason
{
    /// <summary>The sender failed, left or was removed, and no member that is left holds the messages.</summary>
    SenderLeft = 0,

    /// <summary>
    /// The sender sent the messages while it was in another cluster than this node, as in a partitioned network, or while it was removed
    /// from this cluster, which took it back later.
    /// </summary>
    Partition = 1,

    /// <summary>The messages were lost, and the guarantee of the topic is <see cref="Guarantee.BestEffort"/>.</summary>
    Unrepaired = 2,

    /// <summary>
    /// The endpoint's buffer was full: the policy of the reader drops messages, or the endpoint had no reader. See
    /// <see cref="TopicOptions.ReaderCapacity"/>.
    /// </summary>
    ReaderFull = 3,

    /// <summary>
    /// The reader took nothing, and so blocked the senders, for longer than <see cref="TopicOptions.SlowReaderLimit"/>. The endpoint is
    /// closed.
    /// </summary>
    ReaderTooSlow = 4,

    /// <summary>
    /// The topic is open elsewhere with a contract that does not match, which became known when clusters joined. The endpoint is closed.
    /// </summary>
    ContractMismatch = 5,

    /// <summary>The codec threw an exception on the message's payload.</summary>
    Undecodable = 6,

    /// <summary>
    /// The service that the node came to denies it the right to subscribe, by other rules than those of before. The endpoint is closed.
    /// </summary>
    AccessDenied = 7,

    /// <summary>
    /// The messages never came, nothing can bring them any more, and no fault explains it: an error of QuickSilver. The log has the error
    /// as well (event 1433).
    /// </summary>
    Unaccounted = 8,

    /// <summary>
    /// The endpoint or its consumer ended before the messages were handled: it was cancelled or disposed, a stop reached its limit, or the
    /// node stopped. The log has the topic and the number of these messages (event 1650).
    /// </summary>
    SubscriberEnded = 9,
}

internal static class GapReasons
{
    public static GapReason Of(TopicGapReason reason) => reason switch
    {
        TopicGapReason.SenderGone => GapReason.SenderLeft,
        TopicGapReason.SentElsewhere => GapReason.Partition,
        TopicGapReason.Unrepaired => GapReason.Unrepaired,
        TopicGapReason.Unaccounted => GapReason.Unaccounted,
        _ => throw new ArgumentOutOfRangeException(nameof(reason), (int)reason, "This reason of the multicast layer has no public name."),
    };

    /// <summary>The reason in words that can end a sentence, without a full stop.</summary>
    public static string InWords(this GapReason reason) => reason switch
    {
        GapReason.SenderLeft => "the sender left",
        GapReason.Partition => "the sender was in another cluster, or was removed from this one and taken back",
        GapReason.Unrepaired => "they were lost, and the topic does not repair",
        GapReason.ReaderFull => "the reader's buffer was full",
        GapReason.ReaderTooSlow => "the reader blocked the senders for too long",
        GapReason.ContractMismatch => "the topic is open elsewhere with another contract",
        GapReason.AccessDenied => "the right to subscribe was taken away",
        GapReason.Undecodable => "the payload could not be decoded",
        GapReason.SubscriberEnded => "the subscriber ended before they were handled",
        GapReason.Unaccounted => "nothing can bring them any more, and no fault explains it",
        _ => $"reason {(int)reason}",
    };
}
