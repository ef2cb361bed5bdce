using System.Net;
using QuickSilver.Membership.Client.Watching;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Membership.Views;
using QuickSilver.Tool.Top;

namespace QuickSilver.Tool.Tests.Dashboard;

// Answers of a cluster, from fixed data.
internal static class Cluster
{
    public static readonly DateTimeOffset Start = new(2026, 1, 2, 3, 4, 5, TimeSpan.Zero);

    public static NodeReport Reported(ulong id, NodeSnapshot signs) => Node(id, SnapshotOutcome.Reported, signs);

    public static NodeReport Silent(ulong id) => Node(id, SnapshotOutcome.Silent, null);

    public static string Name(ulong id) => new NodeKey(id, 1).ToString();

    public static ClusterTables At(double seconds, params NodeReport[] nodes) => ClusterTables.Of(
        new ClusterSnapshot(
            new ClusterSnapshotMessage { Nodes = nodes.Length, Reported = nodes.Length, Observers = 1, AgeMillis = 5_000 }, nodes),
        new IPEndPoint(IPAddress.Loopback, 7400),
        new TopView("flights", SortKey.Rate, Filter: null, Rows: 1_000),
        Start.AddSeconds(seconds));

    private static NodeReport Node(ulong id, SnapshotOutcome outcome, NodeSnapshot? signs) => new(
        new MemberSnapshotMessage
        {
            Node = new NodeKey(id, 1),
            EndPoint = new IPEndPoint(new IPAddress([10, 0, 0, (byte)id]), 5000),
            Outcome = outcome,
            SilentMillis = 4_000,
            HeardMillis = 3_500,
        },
        signs,
        Fault: null);
}
