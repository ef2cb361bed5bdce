using QuickSilver.Membership.Contracts;

namespace QuickSilver.Multicast.Channels;

// The properties of a topic that its publishers and subscribers agree on and that the multicast layer uses. The topic's contract ensures
// that all of them open the same channel.
internal readonly record struct ChannelSpec(ulong Topic)
{
    public Reliability Reliability { get; init; }

    /// <summary>
    /// The topic owns its region, so that its subscribers are the members of a closed view. The sink is notified of each view between the
    /// messages. For reliable channels only.
    /// </summary>
    public bool IsPinned { get; init; }

    /// <summary>
    /// The sink is notified how far the messages of each sender are stable (<see cref="IDeliverySink.OnStable"/>). For pinned channels
    /// only. Each subscription decides for itself.
    /// </summary>
    public bool ReportsStable { get; init; }

    /// <summary>
    /// The number of the reliable streams that carry the channel, from 0 to <see cref="StreamClass.Numbers"/> - 1. Channels of one number
    /// share a stream into each region, and wait for each other's packets when one is lost. For reliable channels only.
    /// </summary>
    public byte StreamNumber { get; init; }

    /// <summary>
    /// Only one node may ever subscribe to the topic, and the topic ends with it: an inbox. Of a publisher, no number is kept for it then.
    /// </summary>
    public bool HasOneSubscriber { get; init; }

    /// <summary>The parameters of the topic's guarantee, on which all its endpoints agree.</summary>
    public ContractParameters Parameters { get; init; }

    /// <summary>The class of the streams that carry the channel.</summary>
    public StreamClass Class => Reliability == Reliability.Reliable ? StreamClass.ReliableOf(StreamNumber) : StreamClass.BestEffort;

    /// <summary>The key by which messages are assigned to channels: the topic, and the class of the stream in which they arrive.</summary>
    public ChannelKey Key => new(Topic, Class);
}

internal enum Reliability : byte
{
    Reliable = 0,
    BestEffort = 1,
}

internal readonly record struct ChannelKey(ulong Topic, StreamClass Class);
