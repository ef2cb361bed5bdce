namespace QuickSilver.Core.Diagnostics;

// When an event that happens again and again is logged: the first few times, then each time that its count has doubled. An event that
// happens for every message does not fill the log, and the log still shows that it continues.
internal static class RepeatedEvent
{
    /// <summary>How many occurrences in a row are logged before the log thins out.</summary>
    public const int LoggedInFull = 8;

    /// <param name="count">How often the event has happened, this time included.</param>
    public static bool IsLogged(long count) => count <= LoggedInFull || long.IsPow2(count);
}
