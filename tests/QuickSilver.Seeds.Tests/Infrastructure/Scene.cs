using QuickSilver.Seeds.Tests.Infrastructure.Courses;
using QuickSilver.Simulation;

namespace QuickSilver.Seeds.Tests.Infrastructure;

// What a run under faults consists of: which cluster, which topics, and what may go wrong.
internal sealed record Scene
{
    // No partition of a campaign lasts as long.
    private static readonly TimeSpan LongestPartition = TimeSpan.FromSeconds(3);

    private const Hardships ServiceChanges = Hardships.StoreFailures | Hardships.SeveralServers;

    private const Hardships CutOff = Hardships.Interface | Hardships.DeadStreams | Hardships.AddressChanges;

    public required ClusterSetup Cluster { get; init; }

    public required FaultKinds Kinds { get; init; }

    /// <summary>Each node subscribes to all topics of two bundles; a number of topics that the bundles divide.</summary>
    public int Topics { get; init; } = 40;

    public int Bundles { get; init; } = 5;

    /// <summary>Whether nodes die just after they published much: some members have it then, and some have not.</summary>
    public bool DieTalking { get; init; }

    /// <summary>Whether nodes die while some others lack what they said last, and for longer than the rest pass it on.</summary>
    public bool DieUnheard { get; init; }

    /// <summary>Of the partitions, those in which one node reaches both sides.</summary>
    public double BridgeShare { get; init; }

    /// <summary>The one fault that stands while the others continue; null: faults come and go.</summary>
    public StandingFault? Standing { get; init; }

    public Hardships Hardships => Cluster.Hardships;

    private EmbeddedServiceOptions Hosted => Cluster.Options.Membership.Hosted;

    /// <summary>
    /// Whether nodes may lose each other and stay up: when the service changes, or when it takes back those from which it was cut off.
    /// </summary>
    public bool MayPart => Cluster.IsEmbedded
        || Hardships.HasFlag(Hardships.RaisedNumbers)
        || Standing is not null
        || Kinds.HasFlag(FaultKinds.Membership)
        || (Hardships & ServiceChanges) != 0
        || (IsCutOff && Hosted.HeartbeatInterval * Hosted.MissedHeartbeatLimit < LongestPartition);

    private bool IsCutOff => Kinds.HasFlag(FaultKinds.Partition) || (Hardships & CutOff) != 0;

    public string Topic(int number) => $"topic/{number % Topics}";

    public override string ToString()
    {
        var options = Cluster.Options;
        string membership = WholeCluster.MembershipOf(Cluster.IsEmbedded);
        string servers = Cluster.Servers > 1 ? $" with {Cluster.Servers} servers" : "";
        string packets = $"{options.Dissemination} in packets of {options.PacketBytes} bytes";
        string odd = Cluster.HasOddSubscribers ? ", odd subscribers" : "";
        string deaths = (DieTalking ? ", nodes that die talking" : "") + (DieUnheard ? ", nodes that die unheard by some" : "")
            + (BridgeShare > 0 ? ", bridges over partitions" : "");
        string hard = (Hardships == Hardships.None ? "" : $", {Hardships}") + (Standing is { } fault ? $", {fault} stands" : "");
        return $"{Cluster.Nodes} nodes with {membership}{servers}, heartbeats of {options.Membership.Hosted.HeartbeatInterval}, {packets}, "
            + $"{Topics} topics in {Bundles} bundles, {Cluster.TopicSets}, clocks from {Cluster.Epoch:u}{odd}{deaths}{hard}";
    }
}
