namespace QuickSilver.Core.Storage;

internal enum LogOperationKind
{
    None = 0,

    // Creates the file if there is none, locks it, makes what it holds durable. The value is its length.
    Open,

    // Writes the memory at the offset, and then flushes if it is synced. No memory and synced: flushes only.
    Write,

    // Fills the memory from the offset on.
    Read,

    // Sets the length to the offset, and flushes.
    Truncate,

    // Frees the lock. Comes last, after a failure too, even of Open.
    Close,
}

internal readonly record struct LogOperation(
    LogOperationKind Kind, long Offset = 0, Memory<byte> Memory = default, bool IsSynced = false)
{
    private long End => Offset + Memory.Length;

    /// <summary>Notifies the log's user that this was done.</summary>
    public void TellTo(ILogObserver observer, bool isOpen)
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

// The file under a log: what differs between the machine and the simulator. It has one operation at a time.
internal interface ILogFile
{
    /// <summary>Begins an operation. Its end comes to the owner on the core thread, and never within this call.</summary>
    void Begin(in LogOperation operation, ILogFileOwner owner);
}

internal interface ILogFileOwner
{
    /// <param name="value">After Open the length of the file; else 0.</param>
    /// <param name="failure">Null: the operation was done.</param>
    void OnDone(long value, LogException? failure);
}
