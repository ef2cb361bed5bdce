namespace QuickSilver.Groups.Tools;

/// <summary>
/// One member of a group leads: the oldest. When it leaves, fails or is removed, the next in age leads. Thread-safe. To stop being a
/// candidate, dispose it.
/// </summary>
/// <remarks>
/// <para>
/// All members get the leaders in one order, each with a higher <see cref="Term"/>. They do not get them at the same time. A leader that is
/// paused, or cut off from the others, may work as the leader after the next one does: until it continues, or for as long as it takes to
/// notice that the membership service is silent (10 s by default). So what a leader changes must carry the term, and whatever is changed
/// refuses a lower term than it has seen.
/// </para>
/// <para>
/// Terms rise as the numbers of views do, so what <see cref="FencingNumber"/> says of restarts of the membership service applies to them.
/// Where nodes host the service, each part of a divided network has a leader: so a standalone service (<c>qsm gms</c>) is required, unless
/// <see cref="LeaderOptions.AllowHostedService"/> is set.
/// </para>
/// </remarks>
public interface ILeaderLease : IAsyncDisposable
{
    /// <summary>The name of the group.</summary>
    string Name { get; }

    /// <summary>
    /// Whether this node leads, as far as it can know. False while the membership service is silent for so long that it may have removed
    /// this node, and after a pause of the process of more than three seconds until the node has run again.
    /// </summary>
    bool IsLeader { get; }

    /// <summary>The leader, as this member knows. Null after the group has ended here.</summary>
    NodeId? Leader { get; }

    /// <summary>
    /// The number of the leader, which is higher than that of all leaders before: the number of the view in which it became one.
    /// </summary>
    long Term { get; }

    /// <summary>
    /// Cancelled when this node no longer leads, or may no longer lead. Of a node that does not lead, a token that is cancelled already.
    /// Each leadership has a token of its own. If the service is heard again in time, the node has the same term with another token.
    /// </summary>
    CancellationToken Lost { get; }

    /// <summary>Completes when this node leads: at once if it does.</summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="GroupFullException">4,096 calls wait.</exception>
    /// <exception cref="GroupHandlerException">The group has ended on this node because of an error.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="ObjectDisposedException">The lease or its node was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the call.</exception>
    ValueTask<Leadership> WaitForLeadershipAsync(CancellationToken cancellationToken = default);
}

/// <summary>A time in which a node leads.</summary>
/// <param name="Term">The number of the leader. See <see cref="ILeaderLease.Term"/>.</param>
/// <param name="Lost">Cancelled when the node no longer leads, or may no longer lead.</param>
public readonly record struct Leadership(long Term, CancellationToken Lost);
