namespace QuickSilver.Core.Storage;

internal enum LogOperationKind
{
    None = 0,

    // Creates the file if there is none, locks it, syncs what it holds. The value is its length.
    Open,

    // Writes the memory at the offset, and then flushes if it is synced. No memory and synced: flushes only.
    Write,

    // Fills the memory from the offset on.
    Read,

    // Sets the length to the offset, and flushes.
    Truncate,

    // Cuts off what was preallocated behind the offset, unless that is negative, and frees the lock. Comes last, after a failure too,
    // even of Open.
    Close,
}

internal readonly record struct LogOperation(
    LogOperationKind Kind, long Offset = 0, Memory<byte> Memory = default, bool IsSynced = false)
{
    private long End => Offset + Memory.Length;

    /// <summary>Notifies the log's user that this was done.</summary>
    public void ReportTo(ILogObserver observer, bool isOpen)
    {
        switch (Kind)
        {
            case LogOperationKind.Open when isOpen:
                observer.OnOpened();
                break;
            case LogOperationKind.Read:
                observer.OnRead(Offset, Memory);
                break;
            case LogOperationKind.Truncate:
                observer.OnTruncated(Offset);
                break;
            case LogOperationKind.Write when Memory.Length > 0:
                observer.OnWritten(End);
                break;
        }

        if (Kind == LogOperationKind.Write && IsSynced)
        {
            observer.OnSynced(End);
        }
    }
}

// The file under a log: what differs between the machine and the simulator. It has one change at a time, and beside it one read, of what
// was written before. A truncation, an opening and a closing have nothing beside them.
internal interface ILogFile
{
    /// <summary>Begins an operation. Its end comes to the owner on the core thread, and never within this call.</summary>
    void Begin(in LogOperation operation, ILogFileOwner owner);
}

internal interface ILogFileOwner
{
    /// <param name="kind">Of the operation. One of each kind is under way at most.</param>
    /// <param name="value">After Open the length of the file; else 0.</param>
    /// <param name="failure">Null: the operation was done.</param>
    void OnDone(LogOperationKind kind, long value, LogException? failure);
}
