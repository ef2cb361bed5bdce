using System.Collections.Immutable;
using QuickSilver.Membership.Views;

namespace QuickSilver.Simulation.Checkers;

// One message: its sender's life, its topic, and its number there.
internal readonly record struct MessageId(NodeKey Sender, ulong Topic, long Sequence)
{
    public override string ToString() => $"message {Sequence} of topic {Topic:x16} from {Sender}";
}

// One endpoint that receives: Number is unique in the history, also across restarts of its node.
internal readonly record struct Subscription(long Number, int Node, ulong Topic)
{
    public override string ToString() => $"subscription {Number} at node {Node}";
}

internal readonly record struct Published(TimeSpan At, MessageId Message, ulong PayloadHash);

internal readonly record struct Delivered(TimeSpan At, Subscription Subscription, MessageId Message, ulong PayloadHash);

// The subscriber was told that it will not get these numbers, ends included.
internal readonly record struct GapTold(TimeSpan At, Subscription Subscription, NodeKey Sender, long First, long Last);

// The views of regions into which a sender put its message.
internal readonly record struct Sent(TimeSpan At, MessageId Message, ImmutableArray<RegionView> Views);

// A subscription of this life is in its topic's view from this configuration on.
internal readonly record struct Activated(TimeSpan At, Subscription Subscription, NodeKey Life, long Configuration);

// A node's life applied a configuration of the membership service.
internal readonly record struct Configured(TimeSpan At, int Node, NodeKey Life, ConfigurationChange Change)
{
    public long Number => Change.Number;
}

// A node's life was told a region's view. MembersHash: of the members' keys in their order.
internal readonly record struct RegionSeen(TimeSpan At, int Node, NodeKey Life, RegionView View, ulong MembersHash)
{
    public ulong RegionId => View.RegionId;

    public uint Number => View.Number;
}

// A node's life was told a topic's view, after the region views that came with it.
internal readonly record struct TopicSeen(TimeSpan At, int Node, NodeKey Life, TopicView View);

// What a life of a node keeps in memory. IsQuiet: when all that was sent had long been stable everywhere.
internal readonly record struct MemoryReading(TimeSpan At, int Node, NodeKey Life)
{
    public bool IsQuiet { get; init; }

    /// <summary>Sent, and not known to be stable.</summary>
    public long RetainedBytes { get; init; }

    /// <summary>Received, and kept for what is above or for the other members; the most of any one stream.</summary>
    public long KeptPackets { get; init; }

    /// <summary>Blocks of packet memory in use.</summary>
    public long LeasedBlocks { get; init; }

    /// <summary>Superseded views that are still open.</summary>
    public int OldViews { get; init; }

    /// <summary>Streams that it sends.</summary>
    public int OutboundStreams { get; init; }
}

// What repair did in a run so far, and what it was there for.
internal readonly record struct RepairTotals(TimeSpan At, long Disturbances, long Requests, long Retransmissions);

// The publisher of a message was told that it is stable.
internal readonly record struct ToldStable(TimeSpan At, MessageId Message);

// From now on a node has a fault that stands, or no longer. Topic: only those who read or send it suffer (a reader that does not
// read); 0: the node itself.
internal readonly record struct Troubled(TimeSpan At, int Node, ulong Topic, bool IsTroubled);

// An application waits at its node since a time: to open a topic, or for what it publishes to be taken. Named: what the node says ails it.
internal readonly record struct Waits(TimeSpan At, int Node, ulong Topic, string What, TimeSpan Since, string? Named = null);

// The membership service removed a life that had not ended.
internal readonly record struct Expelled(TimeSpan At, int Node, NodeKey Life);

// How much lies in the tables of a node's life while it has open what it had open at each earlier reading: by what they are called.
// IsHost: it hosts the membership service, with the tables of all.
internal readonly record struct TableReading(
    TimeSpan At, int Node, NodeKey Life, bool IsHost, IReadOnlyDictionary<string, long> Sizes);

// One invariant, checked as the history happens. A violation is a sentence that names the ids.
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

    public virtual void On(in GapTold gap)
    {
    }

    /// <summary>From now on the subscription is owed all that is published to its topic.</summary>
    public virtual void OnSubscribed(TimeSpan at, Subscription subscription)
    {
    }

    public virtual void OnUnsubscribed(TimeSpan at, Subscription subscription)
    {
    }

    /// <summary>A node's life ended (crash or stop): what it sent is promised to nobody any more, and it is owed nothing.</summary>
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

    public virtual void On(in ToldStable stable)
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

    /// <summary>Time has passed: what had to happen within a bound must have.</summary>
    public virtual void OnLook(TimeSpan at)
    {
    }

    /// <summary>Nothing is owed any more: a condition to run until.</summary>
    public virtual bool IsComplete => true;

    /// <summary>The history ends: what had to happen by now must have.</summary>
    public virtual void OnEnd()
    {
    }

    protected void Violate(TimeSpan at, string sentence) => History!.Report(new Violation(Invariant, at, sentence));
}

internal readonly record struct Violation(string Invariant, TimeSpan At, string Sentence)
{
    public override string ToString() => $"{Invariant} at {At:c}: {Sentence}";
}
