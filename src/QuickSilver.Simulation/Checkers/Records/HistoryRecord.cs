using System.Collections.Immutable;
using QuickSilver.Membership.Views;

namespace QuickSilver.Simulation.Checkers.Records;

// One message: the incarnation of its sender, its topic, and its number in the topic.
internal readonly record struct MessageId(NodeKey Sender, ulong Topic, long Sequence)
{
    public override string ToString() => $"message {Sequence} of topic {Topic:x16} from {Sender}";
}

// One endpoint that receives. Number is unique in the history, even across restarts of the node.
internal readonly record struct Subscription(long Number, int Node, ulong Topic)
{
    public override string ToString() => $"subscription {Number} at node {Node}";
}

internal readonly record struct Published(TimeSpan At, MessageId Message, ulong PayloadHash);

internal readonly record struct Delivered(TimeSpan At, Subscription Subscription, MessageId Message, ulong PayloadHash);

// The subscriber got a notice that it will not get these numbers, ends included.
internal readonly record struct GapReported(TimeSpan At, Subscription Subscription, NodeKey Sender, long First, long Last);

// The views of regions into which a sender put its message.
internal readonly record struct Sent(TimeSpan At, MessageId Message, ImmutableArray<RegionView> Views);

// A subscription of this life is in its topic's view from this configuration on.
internal readonly record struct Activated(TimeSpan At, Subscription Subscription, NodeKey Life, long Configuration);

// A node's life applied a configuration of the membership service.
internal readonly record struct Configured(TimeSpan At, int Node, NodeKey Life, ConfigurationChange Change)
{
    public long Number => Change.Number;
}

// A node's life got a region's view. MembersHash: of the members' keys in their order.
internal readonly record struct RegionSeen(TimeSpan At, int Node, NodeKey Life, RegionView View, ulong MembersHash)
{
    public ulong RegionId => View.RegionId;

    public uint Number => View.Number;
}

// A node's life got a topic's view, after the region views that came with it.
internal readonly record struct TopicSeen(TimeSpan At, int Node, NodeKey Life, TopicView View);

// What an incarnation of a node keeps in memory. IsQuiet: everything that was sent has been stable everywhere for a long time.
internal readonly record struct MemoryReading(TimeSpan At, int Node, NodeKey Life)
{
    public bool IsQuiet { get; init; }

    /// <summary>Sent, and not known to be stable.</summary>
    public long RetainedBytes { get; init; }

    /// <summary>Received, and kept for the endpoints or for other members; the maximum over all streams.</summary>
    public long KeptPackets { get; init; }

    /// <summary>Blocks of packet memory in use.</summary>
    public long LeasedBlocks { get; init; }

    /// <summary>Superseded views that are still open.</summary>
    public int OldViews { get; init; }

    /// <summary>Streams that it sends, and feeds of several streams at once. Each may have a block to pack.</summary>
    public int OutboundStreams { get; init; }
}

// The repairs of a run so far, and the losses that caused them.
internal readonly record struct RepairTotals(TimeSpan At, long Disturbances, long Requests, long Retransmissions);

// The publisher of a message was notified that it is stable.
internal readonly record struct StableReported(TimeSpan At, MessageId Message);

// A node has a persistent fault from now on, or no longer. Topic: only the subscribers and publishers of this topic are affected (a reader
// that does not read); 0: the node itself.
internal readonly record struct Troubled(TimeSpan At, int Node, ulong Topic, bool IsTroubled);

// An application has waited for its node since a time, to open a topic or to publish. Named: the cause that the node reports.
internal readonly record struct Waits(TimeSpan At, int Node, ulong Topic, string What, TimeSpan Since, string? Named = null);

// The membership service removed an incarnation that had not ended.
internal readonly record struct Expelled(TimeSpan At, int Node, NodeKey Life);

// A publisher has ended, and what became of the messages that it had accepted: sent, or dropped before that. Unacknowledged: of those that
// were sent, the ones that its node reported as not acknowledged when the node ended.
internal readonly record struct PublisherEnded(TimeSpan At, NodeKey Sender, ulong Topic)
{
    public required long Accepted { get; init; }
    public required long Sent { get; init; }
    public required long Dropped { get; init; }
    public required long Unacknowledged { get; init; }
}

// A subscriber got its end, and the number of messages that had come for it and were not handled. Reported: those in gap notices with this
// reason.
internal readonly record struct SubscriberEnded(TimeSpan At, Subscription Subscription, long Unhandled, long Reported)
{
    /// <summary>It ended at once. What it did not handle is not reported to it, and its node counts it.</summary>
    public bool IsAtOnce { get; init; }
}

// How many messages a node reports that had come for its subscribers and that they did not handle, when all of them have ended that will.
internal readonly record struct UnhandledCounted(TimeSpan At, int Node, long Unhandled);

// The number of entries in the tables of a node's incarnation, by the name of the table, while it has the same topics open as at each
// earlier reading. IsHost: it hosts the membership service, which has tables for all nodes.
internal readonly record struct TableReading(
    TimeSpan At, int Node, NodeKey Life, bool IsHost, IReadOnlyDictionary<string, long> Sizes);

// Checks one invariant while the history happens. A violation is a sentence that contains the ids.
internal abstract class HistoryChecker
{
    /// <summary>The invariant's id in the test plan.</summary>
    public abstract string Invariant { get; }

    internal History? History { get; set; }

    public virtual void On(in Published published)
    {
    }

    public virtual void On(in Delivered delivered)
    {
    }

    public virtual void On(in GapReported gap)
    {
    }

    /// <summary>From now on, the subscription must receive everything that is published to its topic.</summary>
    public virtual void OnSubscribed(TimeSpan at, Subscription subscription)
    {
    }

    public virtual void OnUnsubscribed(TimeSpan at, Subscription subscription)
    {
    }

    /// <summary>An incarnation of a node ended (crash or stop). What it sent, or should have received, is owed no longer.</summary>
    public virtual void OnStopped(TimeSpan at, int node, NodeKey life)
    {
    }

    public virtual void On(in Configured configured)
    {
    }

    public virtual void On(in RegionSeen seen)
    {
    }

    public virtual void On(in TopicSeen seen)
    {
    }

    public virtual void On(in Sent sent)
    {
    }

    public virtual void On(in Activated activated)
    {
    }

    public virtual void On(in MemoryReading reading)
    {
    }

    public virtual void On(in RepairTotals totals)
    {
    }

    public virtual void On(in StableReported stable)
    {
    }

    public virtual void On(in Troubled troubled)
    {
    }

    public virtual void On(in Waits waits)
    {
    }

    public virtual void On(in Expelled expelled)
    {
    }

    public virtual void On(in TableReading reading)
    {
    }

    public virtual void On(in PublisherEnded ended)
    {
    }

    public virtual void On(in SubscriberEnded ended)
    {
    }

    public virtual void On(in UnhandledCounted counted)
    {
    }

    /// <summary>Time has passed: everything that must happen within a bound must have happened.</summary>
    public virtual void OnLook(TimeSpan at)
    {
    }

    /// <summary>No message is still to be delivered: a condition for the end of a run.</summary>
    public virtual bool IsComplete => true;

    /// <summary>The history ends: everything that must happen must have happened by now.</summary>
    public virtual void OnEnd()
    {
    }

    protected void Violate(TimeSpan at, string sentence) => History!.Report(new Violation(Invariant, at, sentence));
}

internal readonly record struct Violation(string Invariant, TimeSpan At, string Sentence)
{
    public override string ToString() => $"{Invariant} at {At:c}: {Sentence}";
}
