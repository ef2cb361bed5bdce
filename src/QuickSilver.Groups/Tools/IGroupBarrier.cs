namespace QuickSilver.Groups.Tools;

/// <summary>
/// A point at which members of a group wait for each other: when as many have arrived as there are parties, all of them continue, and the
/// next round begins. Thread-safe.
/// </summary>
/// <remarks>
/// A member that leaves, fails or is removed takes its arrival with it, if the round is not complete. Arrivals are messages in the order
/// <see cref="GroupOrder.Safe"/>: if one member continues, all that arrived in the round do that stay. If all members leave, rounds begin
/// again at 1.
/// </remarks>
public interface IGroupBarrier : IAsyncDisposable
{
    /// <summary>The name of the group.</summary>
    string Name { get; }

    /// <summary>The number of members that a round needs.</summary>
    int Parties { get; }

    /// <summary>The number of members that have arrived in the present round, as this member knows.</summary>
    int Arrived { get; }

    /// <summary>Arrives, and completes when as many members have arrived in this round as there are parties. A member arrives once in a
    /// round.</summary>
    /// <param name="cancellationToken">
    /// Ends the wait, and takes the arrival back. The round may have been completed with it all the same.
    /// </param>
    /// <returns>The number of the round, from 1, the same at all members that arrived in it.</returns>
    /// <exception cref="InvalidOperationException">
    /// This member has arrived in this round already, or others have arrived that wait for another number of parties.
    /// </exception>
    /// <exception cref="GroupOutcomeUnknownException">
    /// This node was removed from the group and came back meanwhile. It has no arrival in the present round.
    /// </exception>
    /// <exception cref="GroupFullException">4,096 calls of this node wait.</exception>
    /// <exception cref="GroupHandlerException">The group has ended on this node because of an error.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="ObjectDisposedException">The barrier or its node was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the call.</exception>
    ValueTask<long> ArriveAsync(CancellationToken cancellationToken = default);
}
