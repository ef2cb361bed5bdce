using System.IO.Pipelines;

namespace QuickSilver.Groups;

/// <summary>
/// The state of a member of a group, and what changes it. A member that joins gets the state of another member, and then exactly the events
/// that this one has got since.
/// </summary>
/// <remarks>
/// The calls come one at a time, outside the core thread of the node, so they may wait. While they wait, events are buffered, and then the
/// senders of the group wait. What a call throws ends the group on this node with a <see cref="GroupHandlerException"/>.
/// </remarks>
/// <typeparam name="TMessage">The type of the messages.</typeparam>
public interface IGroupHandler<TMessage>
{
    /// <summary>
    /// An event: a view, or a message. The first event is a view if this member began the state, or what follows the state that it has
    /// read.
    /// </summary>
    /// <param name="one">The event.</param>
    /// <param name="cancellationToken">Cancelled when the group is disposed.</param>
    ValueTask OnEventAsync(GroupEvent<TMessage> one, CancellationToken cancellationToken);

    /// <summary>
    /// Writes the state that follows from the events so far, for a member that joins. It should take less than 30 s: after that time
    /// another member is asked.
    /// </summary>
    /// <param name="to">
    /// Gets the state, in memory: at most <see cref="GroupOptions.MaxStateBytes"/>. When it is larger, a flush returns that the reader has
    /// completed, and the writer may end.
    /// </param>
    /// <param name="cancellationToken">Cancelled when the group is disposed.</param>
    ValueTask WriteStateAsync(PipeWriter to, CancellationToken cancellationToken);

    /// <summary>
    /// Reads the state of another member, which replaces that of this one. Called when this member joins, before any event, and again if
    /// it was removed from the group and came back.
    /// </summary>
    /// <param name="from">Has the whole state, in memory.</param>
    /// <param name="view">The view in which the state was written. It is not an event again: the state contains it.</param>
    /// <param name="cancellationToken">Cancelled when the group is disposed.</param>
    ValueTask ReadStateAsync(PipeReader from, GroupView view, CancellationToken cancellationToken);

    /// <summary>
    /// Messages that this member cannot get, between the events, as when more members of a view failed at once than messages have replicas.
    /// Its state may differ from that of other members from here on.
    /// </summary>
    /// <param name="gap">The messages. Their numbers include those of the protocol.</param>
    void OnGap(GapNotice gap)
    {
    }

    /// <summary>The group has ended on this node. Called once, after the last event, also if the group was never opened.</summary>
    /// <param name="end">Why.</param>
    void OnEnded(SubscriptionEnd end)
    {
    }
}

// A handler that ignores what it cannot apply, and says so to the meter of its node.
internal interface ICountedHandler
{
    /// <summary>Called for each message that was ignored. Set before the first event. From any thread.</summary>
    Action? OnIgnored { set; }
}
