namespace QuickSilver.Multicast.Channels;

// What a topic's publishers and subscribers agree on and the layers below act by. A channel is what one of them opens; the contract of
// the topic makes sure that all open the same.
internal readonly record struct ChannelSpec(ulong Topic)
{
    public Reliability Reliability { get; init; }

    /// <summary>
    /// The topic owns its region, so that its subscribers are the members of a closed view, of each of which the sink is told between
    /// the messages. For reliable channels only.
    /// </summary>
    public bool IsPinned { get; init; }

    /// <summary>The class of the streams that carry it.</summary>
    public StreamClass Class => Reliability == Reliability.Reliable ? StreamClass.Reliable : StreamClass.BestEffort;

    /// <summary>What messages are told apart by on their way: the topic, and the class of the stream they came in.</summary>
    public ChannelKey Key => new(Topic, Class);
}

internal enum Reliability : byte
{
    Reliable = 0,
    BestEffort = 1,
}

internal readonly record struct ChannelKey(ulong Topic, StreamClass Class);
