namespace QuickSilver.Membership.Service;

// What a service must not forget when it restarts, and what several servers of one service agree on: the numbers of configurations
// never repeat and never go back. All else is registered anew by the nodes. A store that several servers share has a lease for the one
// that leads, and grants each number only while that one holds it: a server that was deposed, or stood still, can say nothing new.
internal interface IMembershipStore
{
    /// <summary>
    /// Whether the service may remove members now. False: its lease has ended, or may have ended, and another server may lead.
    /// </summary>
    bool IsHeld => true;

    /// <summary>The last epoch saved; 0 when there is none. Throws IOException or InvalidDataException when it cannot be read.</summary>
    long LoadEpoch();

    /// <summary>Throws IOException when it could not be made durable.</summary>
    void SaveEpoch(long epoch);

    /// <summary>Claims a number of a saved epoch, above all earlier ones, before anyone is told of the configuration.</summary>
    /// <param name="configuration">The number.</param>
    /// <param name="onClaimed">
    /// Called once, on the service's core thread, at once or later: no other server has this number, or will have it. Never called if the
    /// lease has ended.
    /// </param>
    void Claim(long configuration, Action onClaimed) => onClaimed();
}

internal sealed class MemoryMembershipStore : IMembershipStore
{
    private long _epoch;

    public long LoadEpoch() => _epoch;

    public void SaveEpoch(long epoch) => _epoch = epoch;
}
