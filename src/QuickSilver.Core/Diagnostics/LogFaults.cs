namespace QuickSilver.Core.Diagnostics;

// Exceptions that the application's loggers threw. From any thread: not all that is logged is logged by the core thread.
internal sealed class LogFaults
{
    private long _count;

    public long Count => Volatile.Read(ref _count);

    public void Add() => Interlocked.Increment(ref _count);
}
