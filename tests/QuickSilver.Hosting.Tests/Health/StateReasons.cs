using System.Text;
using QuickSilver.Serialization;
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

    public static Task<StatusReason> StateOpening()
    {
        using var cluster = ClusterReasons.Started(nodes: 2);
        var silent = new StateByHand(cluster, 0, Name);
        silent.OnMessage = (sender, message) =>
        {
            if (message.Kind == StateMessageKind.Hello)
            {
                silent.Mark(sender, message.Number, isComplete: true);
            }
        };
        cluster.Nodes[1].Post(() => cluster.Nodes[1].Node.OpenStateAsync<string, string>(Name));
        return ClusterReasons.Reason(cluster, 1, StatusReasonKind.StateOpening);
    }

    public static Task<StatusReason> StateUndecodable()
    {
        using var cluster = ClusterReasons.Started(nodes: 2);
        var options = new StateOptions<string, string> { KeyCodec = new Unreadable(), ValueCodec = new Unreadable() };
        cluster.RunUntilCompleted(cluster.Nodes[1].Node.OpenStateAsync<string, string>(Name, options));
        var member = new StateByHand(cluster, 0, Name);
        member.Set("UAL", "1", 1);
        return ClusterReasons.Reason(cluster, 1, StatusReasonKind.StateUndecodable);
    }

    private sealed class Unreadable : IPayloadCodec<string>
    {
        public PayloadSchema Schema { get; } = new("string", PayloadSchema.StringKind, []);

        public int GetSize(in string value) => Encoding.UTF8.GetByteCount(value);

        public int Write(in string value, Span<byte> destination) => Encoding.UTF8.GetBytes(value, destination);

        public string Read(ReadOnlySpan<byte> source) => throw new FormatException("a test");
    }
}
