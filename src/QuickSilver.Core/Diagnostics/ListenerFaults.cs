namespace QuickSilver.Core.Diagnostics;

// Exceptions that listeners of the application to meters and activities threw, in this process: such a listener does not belong to a node.
// They go no further, because the listeners are called in the middle of protocol code.
internal static class ListenerFaults
{
    private static long _count;

    public static long Count => Volatile.Read(ref _count);

    public static void Add() => Interlocked.Increment(ref _count);
}
