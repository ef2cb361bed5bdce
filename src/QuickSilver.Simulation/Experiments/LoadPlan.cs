using QuickSilver.Membership.Regions.Sets;


namespace QuickSilver.Simulation.Experiments;

// What goes wrong while it is measured. The two perturbations are the papers' (section 5.3), at one receiver, the last.
internal sealed record LoadFaults
{
    /// <summary>Every 5 s the receiver stands still for 0.5 s.</summary>
    public bool Sleep { get; init; }

    /// <summary>Every 1 s the receiver loses all that comes in for 10 ms.</summary>
    public bool LossBursts { get; init; }

    /// <summary>How many datagrams each receiver loses on its own, evenly.</summary>
    public double Loss { get; init; }

    /// <summary>Drawn from the seed; never at the sender.</summary>
    public FaultKinds Drawn { get; init; }
}

// Senders and many receivers under load, for so long.
internal sealed record LoadPlan
{
    public required int Nodes { get; init; }

    /// <summary>The first nodes; all others receive.</summary>
    public int Senders { get; init; } = 1;

    public int Topics { get; init; } = 1;

    /// <summary>
    /// How many groups of receivers have the same interests: community i subscribes to the topics i, i + n, i + 2n, …
    /// of n communities.
    /// At most as many as there are receivers and topics.
    /// </summary>
    public int Communities { get; init; } = 1;

    public ulong Seed { get; init; } = 1;

    public TimeSpan Duration { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>Before it is measured: windows open, and the first tokens go round.</summary>
    public TimeSpan WarmUp { get; init; } = TimeSpan.FromSeconds(1);

    public int MessageBytes { get; init; } = 1000;

    /// <summary>
    /// One message in each packet, "without batching" as the papers ran. Messages of fewer than some 500 bytes share packets anyway
    /// where several are sent at once, because there are no shorter packets.
    /// </summary>
    public bool OnePerPacket { get; init; }

    /// <summary>Messages a second of all senders together; null: as many as the protocol lets them.</summary>
    public double? Rate { get; init; }

    /// <summary>Members that keep each packet at least; null: as nodes do by themselves.</summary>
    public int? Replicas { get; init; }

    /// <summary>How often the leader of each ring releases a token, in a second; null: when there is something to report.</summary>
    public double? TokenRate { get; init; }

    /// <summary>In how many ranges acknowledgements say what all hold; 1: up to where.</summary>
    public int FeedbackRanges { get; init; } = 1;

    /// <summary>Whether a missing packet is asked for only when its keepers are known to hold it.</summary>
    public bool PullsWaitForKeepers { get; init; }

    /// <summary>How topics are divided into sets of regions; null: as the service does.</summary>
    public TopicSetRules? Sets { get; init; }

    public HostModel Host { get; init; } = HostModel.Papers;

    /// <summary>What a topic is to a node's collector.</summary>
    public TopicWeight Weight { get; init; } = TopicWeight.Light;

    public LoadFaults Faults { get; init; } = new();
}
