namespace QuickSilver.Publishing;

// Who published a message: what becomes of its messages when it ends, and which of them it still waits for.
internal abstract class PublishOrigin
{
    private Exception? _dropReason;
    private StableList? _unstable;

    /// <summary>From any thread: set when what it has queued is to be dropped, not sent.</summary>
    public Exception? DropReason => Volatile.Read(ref _dropReason);

    /// <summary>Sent and not yet stable, of those publishes that wait for it. Core thread only.</summary>
    public StableList Unstable => _unstable ??= new StableList();

    /// <summary>False when it was done before.</summary>
    protected bool DropQueued(Exception reason) => Interlocked.CompareExchange(ref _dropReason, reason, null) is null;
}
