namespace QuickSilver.Groups;

/// <summary>
/// A node's membership in a process group: it sends messages to all members, itself included, and gets views and messages as one sequence.
/// Thread-safe. To leave the group, dispose it.
/// </summary>
/// <typeparam name="TMessage">The type of the messages.</typeparam>
public interface IGroup<TMessage> : IGroupSender<TMessage>
{
    /// <summary>
    /// Reads the events from the first view of this member on. Each enumeration begins with a view. It ends when the group is disposed,
    /// after the events that wait.
    /// </summary>
    /// <param name="onGap">
    /// Called in order with the events for messages that this member cannot get, as when more members of a view failed at once than
    /// messages have replicas. Their numbers include the messages of the protocol.
    /// </param>
    /// <param name="cancellationToken">Cancels the enumeration.</param>
    /// <exception cref="InvalidOperationException">The group has a reader already.</exception>
    /// <exception cref="SlowReaderException">The reader was too slow (<see cref="GroupOptions.SlowReaderLimit"/>).</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the enumeration.</exception>
    IAsyncEnumerable<GroupEvent<TMessage>> ReadAllAsync(
        Action<GapNotice>? onGap = null, CancellationToken cancellationToken = default);

    /// <summary>
    /// Calls a handler for each event inline, on the core thread of the node, with the lowest latency. It must not block or wait. Its
    /// exceptions are logged and counted. The first handler gets the events that were buffered since the group was opened.
    /// </summary>
    /// <param name="handler">The handler, called for one event at a time.</param>
    /// <param name="onGap">Called in order with the events for messages that this member cannot get.</param>
    /// <param name="onEnded">Called once, after the last event, when the group has ended.</param>
    /// <exception cref="ObjectDisposedException">The group or its node was disposed.</exception>
    ISubscription SubscribeInline(
        GroupHandler<TMessage> handler, Action<GapNotice>? onGap = null, Action<SubscriptionEnd>? onEnded = null);
}
