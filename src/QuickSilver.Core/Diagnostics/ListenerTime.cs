using System.Diagnostics;

namespace QuickSilver.Core.Diagnostics;

// How long code of the application that listens to a node has run on the calling thread: its loggers, and its listeners to meters and
// activities. They are called in the middle of protocol code. Without this account, the report of a pause would blame the step that was
// about to log.
internal static class ListenerTime
{
    [ThreadStatic]
    private static long _inLoggers;

    [ThreadStatic]
    private static long _inListeners;

    /// <summary>In loggers, since this thread began.</summary>
    public static TimeSpan InLoggers => Stopwatch.GetElapsedTime(0, _inLoggers);

    /// <summary>In listeners to meters and activities, since this thread began.</summary>
    public static TimeSpan InListeners => Stopwatch.GetElapsedTime(0, _inListeners);

    /// <summary>A call of the application's code begins; what it returns is given to the end of it.</summary>
    public static long Begin() => Stopwatch.GetTimestamp();

    public static void EndLogger(long began) => _inLoggers += Stopwatch.GetTimestamp() - began;

    public static void EndListener(long began) => _inListeners += Stopwatch.GetTimestamp() - began;
}
