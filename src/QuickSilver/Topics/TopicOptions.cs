using QuickSilver.Multicast.Protocols;
using QuickSilver.Serialization;

namespace QuickSilver;

/// <summary>
/// The options of an endpoint. A publisher ignores those of its reader. For a payload type that has no codec, or another one than its own,
/// use <see cref="TopicOptions{T}"/>. An endpoint takes a copy when it is opened, so a later change has no effect.
/// </summary>
public class TopicOptions
{
    private Guarantee? _guarantee;

    /// <summary>Initializes the options with the defaults.</summary>
    public TopicOptions()
    {
    }

    private protected TopicOptions(TopicOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        _guarantee = options._guarantee;
        ReaderCapacity = options.ReaderCapacity;
        SlowReader = options.SlowReader;
        SlowReaderLimit = options.SlowReaderLimit;
        ReceiveOwnMessages = options.ReceiveOwnMessages;
        StampPublishTime = options.StampPublishTime;
        RequireQuorum = options.RequireQuorum;
        ServiceLossLimit = options.ServiceLossLimit;
        Protocol = options.Protocol;
    }

    /// <summary>
    /// The delivery guarantee, which is part of the topic's contract. Default: <see cref="Guarantee.Reliable"/>, or the one that the
    /// payload type declares with <see cref="TopicAttribute"/>. Another one than the declared is refused.
    /// </summary>
    public Guarantee Guarantee
    {
        get => _guarantee ?? Guarantee.Reliable;
        set => _guarantee = value;
    }

    /// <summary>
    /// The maximum number of messages that wait for <see cref="ITopicSubscriber{T}.ReadAllAsync"/>: 1 to 1,048,576;
    /// default 1,024. They have at most 64 MiB of payload, whatever their number. While there is no reader, the oldest messages are
    /// dropped, whatever the policy, so that an endpoint without a reader never stops a sender. The next reader is notified of the gap. A
    /// handler that is added before any reader receives the buffered messages, and after that nothing is buffered until a reader starts.
    /// </summary>
    public int ReaderCapacity { get; set; } = 1024;

    /// <summary>The policy for a slow reader. Default: <see cref="SlowReaderPolicy.Wait"/>.</summary>
    public SlowReaderPolicy SlowReader { get; set; } = SlowReaderPolicy.Wait;

    /// <summary>
    /// The maximum time for which a reader with the policy <see cref="SlowReaderPolicy.Wait"/> may take nothing while it blocks the senders
    /// of its topic; a slow reader that takes messages only holds them to its rate. The endpoint of a reader that takes nothing for longer
    /// is closed: the reader receives the buffered messages, then a gap for each sender with
    /// the range that it lost, and ends with <see cref="SlowReaderException"/>, as do all later calls of its endpoint. The senders and the
    /// node's other endpoints of the topic continue. 00:00:00.1 to 1.00:00:00; default: null, no limit.
    /// </summary>
    public TimeSpan? SlowReaderLimit { get; set; }

    /// <summary>
    /// Whether messages that this node publishes are delivered to this endpoint, too, whichever endpoint of the node published them.
    /// Without them, they are not reported as gaps. Default: true, an endpoint that publishes and subscribes receives its own messages.
    /// </summary>
    public bool ReceiveOwnMessages { get; set; } = true;

    /// <summary>
    /// Whether the endpoint adds the time of publication to its messages, by its machine's clock; see <see
    /// cref="MessageHeaders.PublishTime"/>. It takes 11 bytes of each message, and receivers allocate its headers. Default: false.
    /// </summary>
    public bool StampPublishTime { get; set; }

    /// <summary>
    /// Whether messages are accepted only while the membership service is known to have this node as a member. This is not so when the
    /// service has not been heard for longer than its heartbeat limit (interval times missed heartbeats), as on the minority side of a
    /// divided network. Until the service is back, publishing fails with <see cref="QuorumLostException"/>, also for publishers that wait
    /// for room, and feeds are not asked. Messages accepted before are still sent. The service may remove a node sooner: 2 s after its
    /// connection closed, if it has not connected again, as when its secret was removed at the service, or after two or three heartbeats,
    /// if its neighbours miss it too. The node does not know that until it hears the service again. Messages that it accepts until then,
    /// or until the limit, do not reach the remaining members. The option needs a standalone service, run with <c>qsm gms</c> and named in
    /// <see cref="MembershipOptions.Servers"/>. Where nodes host the service, each part of a divided network has one, and the
    /// option does not protect: a warning is logged when the topic is opened (event 1630). Default: false.
    /// </summary>
    public bool RequireQuorum { get; set; }

    /// <summary>
    /// How long messages are accepted without the membership service, since it was last heard: 00:00:01 to 1.00:00:00, but at least for its
    /// heartbeat limit. After that, publishing fails with <see cref="QuorumLostException"/>. It needs a standalone service, as
    /// <see cref="RequireQuorum"/> does. Default: null, no limit.
    /// </summary>
    public TimeSpan? ServiceLossLimit { get; set; }

    // The protocol of the topic, which replaces Guarantee; null: that of the guarantee.
    internal ProtocolChoice? Protocol { get; set; }

    /// <summary>The guarantee that was set; null if it is the default.</summary>
    internal Guarantee? GivenGuarantee => _guarantee;

    internal string GuaranteeName => Protocol?.Factory.Guarantee ?? Guarantee.ToString();

    /// <summary>A copy, with the codecs if this has any.</summary>
    internal TopicOptions Copy() => (TopicOptions)MemberwiseClone();
}

/// <summary>
/// The options of an endpoint, with the codec of its payload type. The endpoint takes a copy when it is opened.
/// </summary>
/// <typeparam name="T">The payload type.</typeparam>
public sealed class TopicOptions<T> : TopicOptions
{
    /// <summary>Initializes the options with the defaults.</summary>
    public TopicOptions()
    {
    }

    /// <summary>Initializes the options with those of another endpoint.</summary>
    /// <param name="options">The options that are copied.</param>
    public TopicOptions(TopicOptions options)
        : base(options)
    {
    }

    /// <summary>The codec. Null (default): the codec of the type, for bytes, string, or a <c>[DataContract]</c> type.</summary>
    public IPayloadCodec<T>? Codec { get; set; }
}
