using QuickSilver.Simulation.Tests.Infrastructure;
using QuickSilver.States;

namespace QuickSilver.Hosting.Tests.Health;

// The reasons that a node has because of a replicated state.
internal static class StateReasons
{
    private const string Name = "prices";

    public static Task<StatusReason> StateChangeRefused()
    {
        using var cluster = ClusterReasons.Started(nodes: 2);
        cluster.RunUntilCompleted(cluster.Nodes[1].Node.OpenStateAsync<string, string>(Name));
        var liar = new StateByHand(cluster, 0, Name);
        liar.Set("UAL", "a lie", StateStamp.MaxCounter);
        return ClusterReasons.Reason(cluster, 1, StatusReasonKind.StateChangeRefused);
    }
}
