namespace QuickSilver.Groups.Tools.Locks;

// A hold of a lock at the node that has it.
internal sealed class LockHold(DistributedLock owner, long number, FencingNumber fencing) : ILockHold
{
    private readonly CancellationTokenSource _lost = new();
    private bool _isDisposed;

    /// <summary>The number of the operation that acquired it.</summary>
    public long Number => number;

    public FencingNumber FencingNumber => fencing;

    public CancellationToken Lost => _lost.Token;

    /// <summary>Cancels it, beside the caller.</summary>
    public CancellationTokenSource LostSource => _lost;

    public ValueTask DisposeAsync()
    {
        if (!Interlocked.Exchange(ref _isDisposed, true))
        {
            owner.Release(this);
        }

        return default;
    }
}
