namespace QuickSilver.Groups.Tools;

/// <summary>
/// Items of work that the members of a group share: each item is given to one member, and given again if that one leaves or fails on it.
/// Thread-safe.
/// </summary>
/// <remarks>
/// <para>
/// An item goes to the member that works on the fewest items among those that have room, in the order in which the group got the items. It
/// is done when the function of that member has returned. If the function throws, or the member is no longer in the view of the group,
/// the item is given again, to another member if there is one, with a higher <see cref="WorkItem{TItem}.Attempt"/>. After its last attempt
/// it is reported as failed, and kept in a list of the newest 1,000. A member whose queue is disposed gives back what it works on before it
/// leaves. That is no attempt, unless its node fails or is disposed before the others know.
/// </para>
/// <para>
/// An item is worked on at least once, and more than once if a member is removed that has done it. A member that is paused or cut off may
/// still work on an item when another one has it: what must not happen twice needs the id of the item.
/// </para>
/// <para>
/// If all members leave, the items are gone. The items take at most 48 MiB together, each 128 bytes beside its payload. Items that failed
/// are dropped when others need their room.
/// </para>
/// </remarks>
/// <typeparam name="TItem">The type of the items.</typeparam>
public interface IWorkQueue<TItem> : IAsyncDisposable
{
    /// <summary>The name of the group.</summary>
    string Name { get; }

    /// <summary>The number of items that no member works on, as this member knows.</summary>
    int Waiting { get; }

    /// <summary>The number of items that members work on, as this member knows.</summary>
    int Running { get; }

    /// <summary>
    /// Adds an item. Completes when all members hold it, so it is not lost while one of them stays. It waits while 4,096 calls of this node
    /// wait already.
    /// </summary>
    /// <param name="item">The item.</param>
    /// <param name="cancellationToken">Ends the wait. The item may be added all the same.</param>
    /// <returns>The id of the item, from 1. Later items have higher ids.</returns>
    /// <exception cref="ArgumentNullException">The item is null.</exception>
    /// <exception cref="GroupFullException">
    /// The queue has <see cref="WorkQueueOptions.Capacity"/> items, or too many bytes. The item was not added.
    /// </exception>
    /// <exception cref="MessageTooLargeException">The item is too large for a message.</exception>
    /// <exception cref="GroupOutcomeUnknownException">This node was removed from the group and came back meanwhile.</exception>
    /// <exception cref="GroupHandlerException">The group has ended on this node because of an error.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="ObjectDisposedException">The queue or its node was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the call.</exception>
    ValueTask<long> EnqueueAsync(TItem item, CancellationToken cancellationToken = default);

    /// <summary>The newest items whose attempts were used up, the oldest first: at most 1,000. A copy, the same at all members.</summary>
    IReadOnlyList<FailedItem<TItem>> GetFailed();
}

/// <summary>An item that was given to this member.</summary>
/// <typeparam name="TItem">The type of the items.</typeparam>
/// <param name="Id">The id, which is the same in all attempts.</param>
/// <param name="Item">The item.</param>
/// <param name="Attempt">How often it was given to a member, this time included: from 1.</param>
/// <param name="MaxAttempts">How often it is given at most.</param>
/// <param name="Origin">The node that has added it.</param>
public readonly record struct WorkItem<TItem>(long Id, TItem Item, int Attempt, int MaxAttempts, NodeId Origin);

/// <summary>An item whose attempts were used up.</summary>
/// <typeparam name="TItem">The type of the items.</typeparam>
/// <param name="Id">The id.</param>
/// <param name="Item">The item. Undefined if the codec of this node cannot read it.</param>
/// <param name="Attempts">How often it was given to a member.</param>
/// <param name="Reason">Why the last attempt failed: what its function threw, at most 1,024 bytes, or that its member has left.</param>
/// <param name="Origin">The node that has added it.</param>
public readonly record struct FailedItem<TItem>(long Id, TItem? Item, int Attempts, string Reason, NodeId Origin);
