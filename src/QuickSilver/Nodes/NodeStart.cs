using Microsoft.Extensions.Logging;
using QuickSilver.Composition;
using QuickSilver.Diagnostics;

namespace QuickSilver.Nodes;

// The start of a node: its core begins, and joins the cluster within the limit, or ends.
internal static class NodeStart
{
    public static Task<QuickSilverNode> OnMachineAsync(
        QuickSilverOptions options, ILoggerFactory logs, CancellationToken cancellationToken) =>
        Handed(ComposeAsync(options, logs, cancellationToken), TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Starts a node on parts that were composed elsewhere.</summary>
    public static Task<QuickSilverNode> OnPartsAsync(
        INodeParts parts, QuickSilverOptions options, ILoggerFactory logs, CancellationToken cancellationToken) =>
        Handed(JoinAsync(parts, options, logs, cancellationToken), parts.Completions);

    // The start continues on the thread that completes what it waits for, which may be the core thread. So it does not wait for a thread
    // of the pool, which the application may block. What the caller does afterwards must not run there, except in a simulation.
    private static Task<QuickSilverNode> Handed(Task<QuickSilverNode> start, TaskCreationOptions completion)
    {
        if (start.IsCompleted || completion == TaskCreationOptions.None)
        {
            return start;
        }

        var handed = new TaskCompletionSource<QuickSilverNode>(completion);
        _ = PassAsync(start, handed);
        return handed.Task;
    }

    private static async Task<QuickSilverNode> JoinAsync(
        INodeParts parts, QuickSilverOptions options, ILoggerFactory logs, CancellationToken cancellationToken)
    {
        var core = new NodeCore(parts, options, logs);
        var node = new QuickSilverNode(parts, core);
        core.Begin();
        try
        {
            await core.Joined.WaitAsync(options.StartTimeout, parts.OutsideTime, cancellationToken).ConfigureAwait(core.ResumesInContext);
            return node;
        }
        catch (TimeoutException exception)
        {
            string why = StartFailure.InWords(parts, parts.Environment.LocalAddress, options);
            ApiLog.StartFailed(core.Log, options.StartTimeout, why);
            await parts.EndStartAsync(() => node.DisposeAsync().AsTask()).ConfigureAwait(core.ResumesInContext);
            throw new MembershipUnreachableException(
                $"Timed out after {options.StartTimeout} joining a membership service: {why}. {StartFailure.WhatToDo(parts)}", exception)
            {
                Timeout = options.StartTimeout,
            };
        }
        catch
        {
            await parts.EndStartAsync(() => node.DisposeAsync().AsTask()).ConfigureAwait(core.ResumesInContext);
            throw;
        }
    }

    private static async Task<QuickSilverNode> ComposeAsync(
        QuickSilverOptions options, ILoggerFactory logs, CancellationToken cancellationToken)
    {
        var parts = await NodeComposition.ForMachineAsync(options, logs, cancellationToken).ConfigureAwait(false);
        return await JoinAsync(parts, options, logs, cancellationToken).ConfigureAwait(false);
    }

    private static async Task PassAsync(Task<QuickSilverNode> start, TaskCompletionSource<QuickSilverNode> handed)
    {
        await ((Task)start).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        handed.SetFromTask(start);
    }
}
