namespace QuickSilver.Membership.Service;

// What a service must not forget when it restarts: the last epoch, so that it never goes back. All else is registered
// anew by the nodes.
internal interface IMembershipStore
{
    /// <summary>The last epoch saved; 0 when there is none. Throws IOException or InvalidDataException when it cannot be read.</summary>
    long LoadEpoch();

    /// <summary>Throws IOException when it could not be made durable.</summary>
    void SaveEpoch(long epoch);
}

internal sealed class MemoryMembershipStore : IMembershipStore
{
    private long _epoch;

    public long LoadEpoch() => _epoch;

    public void SaveEpoch(long epoch) => _epoch = epoch;
}
