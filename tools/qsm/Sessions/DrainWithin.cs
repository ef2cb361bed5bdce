namespace QuickSilver.Tool.Sessions;

// Commands drain for a limited time, and report whether all members have acknowledged all.
internal static class DrainWithin
{
    /// <summary>Whether all was stable within the limit. False also if the node was expelled before.</summary>
    /// <param name="limit">The limit.</param>
    /// <param name="drain">The drain of an endpoint or of a node.</param>
    /// <param name="interrupted">Cancels the call.</param>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    public static async Task<bool> LimitAsync(
        TimeSpan limit, Func<CancellationToken, Task> drain, CancellationToken interrupted = default)
    {
        using var end = CancellationTokenSource.CreateLinkedTokenSource(interrupted);
        end.CancelAfter(limit);
        try
        {
            await drain(end.Token);
            return true;
        }
        catch (OperationCanceledException) when (!interrupted.IsCancellationRequested)
        {
            return false;
        }
        catch (NodeExpelledException)
        {
            return false;
        }
    }
}
