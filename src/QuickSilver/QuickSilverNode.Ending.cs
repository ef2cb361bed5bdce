using QuickSilver.Diagnostics;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Endpoints;

namespace QuickSilver;

// The end of the node: its endpoints end, it leaves the cluster, and its core thread ends. Each wait has a limit.
public sealed partial class QuickSilverNode
{
    // Together, and with what membership takes to leave, they stay within the second that disposing may take.
    private static readonly TimeSpan EndpointsLimit = TimeSpan.FromMilliseconds(550);
    // Of the limit that membership keeps itself, unless the core thread is blocked.
    private const double LeaveGrace = 1.1;
    private static readonly TimeSpan ReportGrace = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan StopLimit = TimeSpan.FromMilliseconds(200);

    // Null when the core thread did not answer in time.
    private async Task<List<TopicEndpoint>?> EndpointsAsync(TimeSpan limit)
    {
        var listed = ListEndpoints();
        return await Within(listed, limit).ConfigureAwait(_core.ResumesInContext)
            ? await listed.ConfigureAwait(_core.ResumesInContext)
            : null;
    }

    // Does not complete if the core thread ends first.
    private Task<List<TopicEndpoint>> ListEndpoints()
    {
        var listed = new TaskCompletionSource<List<TopicEndpoint>>(_core.Completions);
        _core.Run(() => listed.SetResult(_core.OpenEndpoints()));
        return listed.Task;
    }

    // Completes whatever happens: no call that disposes waits forever.
    private async Task DisposeOnceAsync(TaskCompletionSource done)
    {
        try
        {
            await CloseAsync().ConfigureAwait(_core.ResumesInContext);
        }
        finally
        {
            done.SetResult();
        }
    }

    private async Task CloseAsync()
    {
        _core.TryStop();
        long begun = _core.OutsideTime.GetTimestamp();
        bool inOrder = false;
        _core.Run(_core.PublishLosses.Collect);
        if (await EndpointsAsync(EndpointsLimit).ConfigureAwait(_core.ResumesInContext) is { } endpoints)
        {
            var left = EndpointsLimit - _core.OutsideTime.GetElapsedTime(begun);
            var closing = Task.WhenAll(endpoints.Select(static endpoint => endpoint.DisposeAsync().AsTask()));
            await Within(closing, left < TimeSpan.Zero ? TimeSpan.Zero : left).ConfigureAwait(_core.ResumesInContext);
            left = EndpointsLimit - _core.OutsideTime.GetElapsedTime(begun);
            await Within(_core.EndpointRegistry.WhenRead(), left < TimeSpan.Zero ? TimeSpan.Zero : left)
                .ConfigureAwait(_core.ResumesInContext);
            var departed = new TaskCompletionSource(_core.Completions);
            // By way of the queue: the reports of the topics' ends are in it before, and the core thread may end when this is set.
            _core.Run(() => _core.Leave(() => _core.Run(departed.SetResult)));
            inOrder = await Within(departed.Task, _parts.Membership.LeaveLimit * LeaveGrace).ConfigureAwait(_core.ResumesInContext);
        }
        else
        {
            _core.OnEndWithoutCore();
        }

        inOrder &= await Within(_parts.StopAsync(), StopLimit).ConfigureAwait(_core.ResumesInContext);
        await ReportUnreadAsync(_core.End()).ConfigureAwait(_core.ResumesInContext);
        if (!inOrder)
        {
            ApiLog.StopTimedOut(_core.Log);
        }

        var cells = _core.CounterCells;
        ApiLog.Stopped(
            _core.Log,
            Read(NodeFigures.Accepted),
            Read(NodeFigures.Published),
            cells.ReadHandled(),
            Interlocked.Read(ref cells.Unhandled));
    }

    // A reader that continues reports what was dropped. One that does not, such as a call that does not return, cannot.
    private async Task ReportUnreadAsync(IReadOnlyList<TopicEndpoint> unread)
    {
        if (unread.Count > 0
            && !await Within(Task.WhenAll(unread.Select(static one => one.WhenRead())), ReportGrace).ConfigureAwait(_core.ResumesInContext))
        {
            foreach (var endpoint in unread)
            {
                endpoint.Subscription?.ReportUnread();
            }
        }
    }

    private async Task<bool> Within(Task task, TimeSpan limit)
    {
        try
        {
            await task.WaitAsync(limit, _core.OutsideTime).ConfigureAwait(_core.ResumesInContext);
            return true;
        }
        catch (TimeoutException)
        {
            return false;
        }
    }
}
