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

// One sender and many receivers under load, for so long.
internal sealed record LoadPlan
{
    public required int Nodes { get; init; }

    public int Topics { get; init; } = 1;

    public ulong Seed { get; init; } = 1;

    public TimeSpan Duration { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>Before it is measured: windows open, and the first tokens go round.</summary>
    public TimeSpan WarmUp { get; init; } = TimeSpan.FromSeconds(1);

    public int MessageBytes { get; init; } = 1000;

    /// <summary>Messages a second; null: as many as the protocol lets the sender.</summary>
    public double? Rate { get; init; }

    /// <summary>Members that keep each packet at least; null: as nodes do by themselves.</summary>
    public int? Replicas { get; init; }

    /// <summary>How often the leader of each ring releases a token, in a second; null: when there is something to tell.</summary>
    public double? TokenRate { get; init; }

    /// <summary>In how many ranges acknowledgements say what all hold; 1: up to where.</summary>
    public int FeedbackRanges { get; init; } = 1;

    public HostModel Host { get; init; } = HostModel.Papers;

    public LoadFaults Faults { get; init; } = new();
}

// What was measured; times are virtual.
internal sealed record LoadFigures
{
    /// <summary>The mean over the receivers.</summary>
    public required double MessagesPerSecond { get; init; }
    public required double SlowestMessagesPerSecond { get; init; }
    public required long Published { get; init; }
    public required long Deliveries { get; init; }
    /// <summary>Messages that receivers were told they never get.</summary>
    public required long Gaps { get; init; }
    /// <summary>Deliveries still owed when the time to catch up was over; 0 where a node crashed, which owes none.</summary>
    public required long Missing { get; init; }
    public required double TokenRoundTripMillis { get; init; }
    public required double WorstTokenRoundTripMillis { get; init; }
    /// <summary>Packets sent and not known to be held by all, the mean over the time.</summary>
    public required double PendingAcks { get; init; }
    public required double PendingBytes { get; init; }
    /// <summary>What a receiver keeps, the mean over them and over the time.</summary>
    public required double ReceiverKeptBytes { get; init; }
    public required double LatencyMeanMillis { get; init; }
    public required double LatencyMostMillis { get; init; }
    public required double SenderBusyShare { get; init; }
    public required double ReceiverBusyShare { get; init; }
    public required long RepairsSent { get; init; }
    public required long PullsSent { get; init; }
    public required long SenderRepairs { get; init; }
    public required RepairFigures Repair { get; init; }
    public required ulong TraceHash { get; init; }
    public required double VirtualSeconds { get; init; }
}
