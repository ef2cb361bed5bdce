namespace QuickSilver.Membership.Service.Stores;

// Forgets with its process. Servers in one process may share it: for tests and simulations.
internal sealed class MemoryMembershipStore : IMembershipStore
{
    private readonly Shared _shared;

    public MemoryMembershipStore()
        : this(new Shared())
    {
    }

    private MemoryMembershipStore(Shared shared) => (_shared, shared.Holder) = (shared, this);

    private sealed class Shared
    {
        public long Epoch;
        public MemoryMembershipStore? Holder;
    }

    public bool IsHeld => _shared.Holder == this;

    /// <summary>Another server's hold on the same memory; null while a server holds it.</summary>
    public MemoryMembershipStore? TryAcquire() => _shared.Holder is null ? new MemoryMembershipStore(_shared) : null;

    public long LoadEpoch() => _shared.Epoch;

    public void SaveEpoch(long epoch)
    {
        if (IsHeld)
        {
            _shared.Epoch = epoch;
        }
    }

    public void Claim(long configuration, Action onClaimed)
    {
        if (IsHeld)
        {
            onClaimed();
        }
    }

    public Task ReleaseAsync()
    {
        _shared.Holder = IsHeld ? null : _shared.Holder;
        return Task.CompletedTask;
    }
}
