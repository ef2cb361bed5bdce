namespace QuickSilver.Groups.Tools;

/// <summary>
/// A lock that one caller among all members of a group holds at a time. Callers get it in the order in which the group got their requests.
/// Thread-safe.
/// </summary>
/// <remarks>
/// <para>
/// A lock is granted again when its hold is disposed, or when the node of its holder is no longer in the view of the group: it has left,
/// has failed, or was removed. The holder of a node that was removed may not have noticed yet, for as long as its process is paused or its
/// network is cut off. So two callers can work as holders at the same time. What the lock protects must therefore check <see
/// cref="ILockHold.FencingNumber"/>.
/// </para>
/// <para>
/// Where nodes host the membership service themselves, each part of a divided network has a service of its own. Both would grant the
/// lock, and their fencing numbers say nothing of each other. So a lock needs a standalone service (<c>qsm gms</c>), unless <see
/// cref="LockOptions.AllowHostedService"/> is set.
/// </para>
/// <para>
/// Acquiring and releasing are messages in the order <see cref="GroupOrder.Safe"/>: a hold that one member knows is known to all that stay.
/// A member that misses messages, as when more members of a view fail at once than messages have replicas, leaves the group: its holds
/// are lost.
/// </para>
/// </remarks>
public interface IDistributedLock : IAsyncDisposable
{
    /// <summary>The name of the group.</summary>
    string Name { get; }

    /// <summary>The node that holds the lock, as this member knows. Null: none does.</summary>
    NodeId? Holder { get; }

    /// <summary>The number of requests that wait for the lock, as this member knows.</summary>
    int Waiting { get; }

    /// <summary>
    /// Waits for the lock. It is not reentrant: a second call of the same caller waits for its own hold.
    /// </summary>
    /// <param name="cancellationToken">Ends the wait. The request leaves the line, and the lock is released if it was granted.</param>
    /// <returns>The hold. Dispose it to release the lock.</returns>
    /// <exception cref="GroupFullException">4,096 calls of this node wait, or 10,000 requests of all members.</exception>
    /// <exception cref="GroupOutcomeUnknownException">
    /// This node was removed from the group and came back meanwhile. This request does not hold the lock.
    /// </exception>
    /// <exception cref="GroupHandlerException">The group has ended on this node because of an error.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="ObjectDisposedException">The lock or its node was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the call.</exception>
    ValueTask<ILockHold> AcquireAsync(CancellationToken cancellationToken = default);

    /// <summary>Takes the lock if it is free. It takes a round trip through the group, and does not wait for another holder.</summary>
    /// <param name="cancellationToken">Ends the wait. The lock is released if it was granted.</param>
    /// <returns>The hold; null: another one holds the lock.</returns>
    /// <inheritdoc cref="AcquireAsync"/>
    ValueTask<ILockHold?> TryAcquireAsync(CancellationToken cancellationToken = default);
}

/// <summary>
/// A hold of a lock. Thread-safe. To release the lock, dispose it: that completes when the release is on its way, and a second time it does
/// nothing.
/// </summary>
public interface ILockHold : IAsyncDisposable
{
    /// <summary>The number of this hold, which is higher than that of all holds of this lock before.</summary>
    FencingNumber FencingNumber { get; }

    /// <summary>
    /// Cancelled when the lock may be granted to others although this hold is not disposed: the membership service was not heard for
    /// longer than the time after which it removes a silent node, this node was removed from the group, or the lock or its node has
    /// ended. A hold that is lost stays lost.
    /// </summary>
    /// <remarks>
    /// The callbacks run on the thread pool. A paused process learns of it when it continues, so this is no substitute for <see
    /// cref="FencingNumber"/>.
    /// </remarks>
    CancellationToken Lost { get; }
}
