using QuickSilver.Serialization;

namespace QuickSilver.Groups;

/// <summary>
/// The options of a member of a group. For a type of messages that has no codec, or another one than its own, use <see
/// cref="GroupOptions{TMessage}"/>. They are read when the group is opened, so a later change has no effect.
/// </summary>
public class GroupOptions
{
    /// <summary>The order of messages that are sent without one. Default: <see cref="GroupOrder.Total"/>.</summary>
    public GroupOrder Order { get; set; } = GroupOrder.Total;

    /// <summary>
    /// Whether this member, while it decides the order of the group, hands that over to another member that sends alone for some time. The
    /// messages of the other one then wait for no member. Default: true.
    /// </summary>
    public bool OrderFollowsTraffic { get; set; } = true;

    /// <summary>
    /// The maximum number of events that wait for <see cref="IGroup{TMessage}.ReadAllAsync"/>: 1 to 1,048,576; default 1,024. When so many
    /// wait, the senders of the group wait too. While there is no reader, the oldest events are dropped. The reader is then notified of
    /// the gap.
    /// </summary>
    public int ReaderCapacity { get; set; } = 1024;

    /// <summary>
    /// The maximum time for which a reader may take nothing while it blocks the senders of the group (see <see
    /// cref="TopicOptions.SlowReaderLimit"/>): 00:00:00.1 to 1.00:00:00; default: null, no limit.
    /// </summary>
    public TimeSpan? SlowReaderLimit { get; set; }

    /// <summary>
    /// The maximum size of the state of a group in bytes, as <see cref="IGroupHandler{TMessage}.WriteStateAsync"/> writes it: 1,024 to
    /// 67,108,864 (64 MiB), the default. A member gives and takes no larger one. It has no effect on a group without a state.
    /// </summary>
    public int MaxStateBytes { get; set; } = MostStateBytes;

    /// <summary>
    /// Whether this member takes events in the primary partition only: in the part of a divided network that the membership service hears.
    /// While the service has been silent for its heartbeat limit and may have removed this node, views and messages wait. They follow when
    /// it is heard again, and none of them comes if it has removed the node. Default: false, and a member that was cut off continues with
    /// the members that it reaches until it is removed. All members of a group should have the same. Opening fails where nodes host the
    /// service, because each part of a divided network then has one. It has no effect on a sender that is no member.
    /// </summary>
    public bool PrimaryPartitionOnly { get; set; }

    /// <summary>The maximum number of events that wait for the state. Less in tests.</summary>
    internal int MostWaitingEvents { get; set; } = 1 << 16;

    internal const int LeastStateBytes = 1 << 10;
    internal const int MostStateBytes = 64 << 20;

    /// <exception cref="QuickSilverOptionsException">The order is none, or the limit of the state is out of range.</exception>
    internal void Check()
    {
        var failures = new List<string>();
        OptionFailures.OneOf(failures, nameof(Order), Order);
        OptionFailures.Within(failures, nameof(MaxStateBytes), MaxStateBytes, LeastStateBytes, MostStateBytes);
        OptionFailures.ThrowIfAny(failures);
    }

    /// <summary>The order of one message.</summary>
    /// <exception cref="QuickSilverOptionsException">The order is none.</exception>
    internal static void CheckOrder(GroupOrder order)
    {
        // Nothing is allocated for a message in order.
        if (order is < GroupOrder.Fifo or > GroupOrder.Safe)
        {
            var failures = new List<string>();
            OptionFailures.OneOf(failures, nameof(Order), order);
            OptionFailures.ThrowIfAny(failures);
        }
    }
}

/// <summary>The options of a member of a group, with the codec of its messages.</summary>
/// <typeparam name="TMessage">The type of the messages.</typeparam>
public sealed class GroupOptions<TMessage> : GroupOptions
{
    /// <summary>The codec. Null (default): the codec of the type, for bytes, string, or a <c>[DataContract]</c> type.</summary>
    public IPayloadCodec<TMessage>? Codec { get; set; }
}
