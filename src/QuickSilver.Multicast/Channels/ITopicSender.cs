using QuickSilver.Core.Flow;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Channels;

internal interface ITopicSender
{
    /// <summary>The topic's, for people; not kept by everyone.</summary>
    string? Name { get => null; set { } }

    /// <summary>
    /// Takes one message (copied before it returns) and gives its number, or -1 when there is no room: then the feed is
    /// asked once when there is. Without subscribers a message is stable at once.
    /// </summary>
    /// <param name="payload">The message's bytes.</param>
    /// <param name="observer">The observer that is notified when it is stable.</param>
    /// <param name="extensions">Fields that <see cref="MessageExtensions"/> made, or none.</param>
    long TrySend(ReadOnlySpan<byte> payload, IStabilityObserver? observer, ReadOnlySpan<byte> extensions = default);

    /// <summary>
    /// The largest payload for which this node's packet memory can ever have room in the topic's present view, which takes blocks for
    /// each of its regions; below 0: there is none for any. TrySend never takes a larger one.
    /// </summary>
    long MostBytes => long.MaxValue;

    /// <summary>Reads what <see cref="TrySend"/> will, so that it is in the cache then; gives something of it.</summary>
    int Touch() => 0;

    /// <summary>Whether a message could be taken now; if not, the feed is asked in its turn when one can.</summary>
    bool AwaitRoom();

    /// <summary>The feed that is asked for messages, on the core thread, after TrySend or AwaitRoom said no.</summary>
    ISenderFeed? Feed { get; set; }

    /// <summary>
    /// About how many bytes of messages fit before there is no room; 0 or less if there is none. For what gives many at a time.
    /// </summary>
    int RoomBytes => int.MaxValue;

    /// <summary>
    /// Notifies the observer, once and perhaps at once, when what was taken until now is stable, as far as it was taken since the last
    /// view. Called in the same step as TrySend of the last message, which had no observer of its own: that has made room for this one. Of
    /// a best-effort topic nothing is acknowledged: it counts as stable when it has left. One call stands for many messages, so it costs
    /// less than an observer of each.
    /// </summary>
    /// <param name="observer">The observer to notify.</param>
    /// <param name="number">The number that it gets: one of its own.</param>
    /// <param name="isLast">Whether nothing may follow soon, so that the members are asked for an acknowledgement.</param>
    void ObserveTaken(IStabilityObserver observer, long number, bool isLast);

    /// <summary>The number of messages that this node has sent in the topic.</summary>
    long Count => 0;

    /// <summary>What keeps the topic from sending.</summary>
    StreamLimit Limit => StreamLimit.Idle;

    /// <summary>Everything taken so far is stable.</summary>
    bool IsStable { get; }

    /// <summary>Calls back once when all that was taken until now is stable.</summary>
    void WhenStable(Action callback);

    void Close();
}

// An interface and not a delegate: a delegate for each of thousands of topics is 64 bytes each.
internal interface ISenderFeed
{
    /// <summary>
    /// The topic's turn: sends messages while there is room, as many as the budget allows, and charges it. Returns whether it has more
    /// and nothing keeps it from sending them at its next turn.
    /// </summary>
    bool Pull(ref PullBudget budget);
}
