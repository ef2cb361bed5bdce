namespace QuickSilver.Tests.Infrastructure;

// A drain with a limit, for programs that report whether all was acknowledged.
internal static class DrainWithin
{
    /// <summary>Whether all was stable within the limit. False also if the endpoint or the node ended before.</summary>
    /// <param name="limit">The limit.</param>
    /// <param name="drain">The drain of an endpoint or of a node.</param>
    /// <param name="time">The clock of the limit; null: that of the system.</param>
    public static async Task<bool> LimitAsync(TimeSpan limit, Func<CancellationToken, Task> drain, TimeProvider? time = null)
    {
        using var end = new CancellationTokenSource(limit, time ?? TimeProvider.System);
        try
        {
            await drain(end.Token);
            return true;
        }
        catch (Exception exception) when (exception is OperationCanceledException or InvalidOperationException or QuickSilverException)
        {
            return false;
        }
    }
}
