using System.Runtime.ExceptionServices;
using QuickSilver.Simulation;

namespace QuickSilver.Groups.Tests.Tools.Models;

// Calls as code of a simulated node makes them, so that all that follows runs on that node.
internal static class SimulatedCalls
{
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(2);

    /// <summary>Makes a call and lets time pass until it completes.</summary>
    public static T Call<T>(this SimulatedCluster cluster, int node, Func<QuickSilverNode, Task<T>> call)
    {
        var begun = cluster.Begin(node, call);
        cluster.Eventually("the call completes", () => begun.IsCompleted, Limit);
        return begun.Result;
    }

    public static void Call(this SimulatedCluster cluster, int node, Func<QuickSilverNode, Task> call) =>
        cluster.Call(node, async one =>
        {
            await call(one);
            return true;
        });

    /// <summary>Makes a call that may complete later.</summary>
    public static BegunCall<T> Begin<T>(this SimulatedCluster cluster, int node, Func<QuickSilverNode, Task<T>> call)
    {
        var begun = new BegunCall<T>();
        cluster.Nodes[node].Post(async () =>
        {
            try
            {
                begun.Complete(await call(cluster.Nodes[node].Node), null);
            }
            catch (Exception exception)
            {
                begun.Complete(default, exception);
            }
        });
        return begun;
    }
}

internal sealed class BegunCall<T>
{
    private T? _result;

    public bool IsCompleted { get; private set; }

    public Exception? Failure { get; private set; }

    public T Result
    {
        get
        {
            Assert.True(IsCompleted);
            if (Failure is not null)
            {
                ExceptionDispatchInfo.Throw(Failure);
            }

            return _result!;
        }
    }

    public void Complete(T? result, Exception? failure)
    {
        _result = result;
        Failure = failure;
        IsCompleted = true;
    }
}
