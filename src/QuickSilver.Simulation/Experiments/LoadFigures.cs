
namespace QuickSilver.Simulation.Experiments;

// What was measured; times are virtual.
internal sealed record LoadFigures
{
    /// <summary>Of all senders together, the mean over the receivers.</summary>
    public required double MessagesPerSecond { get; init; }
    public required double SlowestMessagesPerSecond { get; init; }
    /// <summary>Of all senders together.</summary>
    public required double PublishedPerSecond { get; init; }
    public required long Published { get; init; }
    public required long Deliveries { get; init; }
    /// <summary>Messages that were reported to receivers as never coming.</summary>
    public required long Gaps { get; init; }
    /// <summary>Deliveries still owed when the time to catch up was over; 0 where a node crashed, which owes none.</summary>
    public required long Missing { get; init; }
    /// <summary>Nodes that the membership service removed, where that is counted.</summary>
    public int RemovedNodes { get; init; }
    /// <summary>Of the packets that were sent for the first time.</summary>
    public required double MessagesPerPacket { get; init; }
    /// <summary>The last rounds of all levels together, at the root's leader.</summary>
    public required double TokenRoundTripMillis { get; init; }
    public required double WorstTokenRoundTripMillis { get; init; }
    /// <summary>From when a packet was sent until its sender knew that all hold it.</summary>
    public required double AckMillis { get; init; }
    /// <summary>Packets sent and not known to be held by all, the mean over the time and the senders.</summary>
    public required double PendingAcks { get; init; }
    public required double PendingBytes { get; init; }
    /// <summary>What a receiver keeps, the mean over them and over the time.</summary>
    public required double ReceiverKeptBytes { get; init; }
    public required double LatencyMeanMillis { get; init; }
    public required double LatencyMostMillis { get; init; }
    public required double SenderBusyShare { get; init; }
    public required double ReceiverBusyShare { get; init; }
    /// <summary>Of what the sender's card can send, what its data took.</summary>
    public required double SenderCardShare { get; init; }
    public required CollectorFigures Collector { get; init; }
    public required PerturbedFigures Perturbed { get; init; }
    public required long RepairsSent { get; init; }
    public required long PullsSent { get; init; }
    public required long SenderRepairs { get; init; }
    public required RepairFigures Repair { get; init; }
    public required ulong TraceHash { get; init; }
    public required double VirtualSeconds { get; init; }
}

/// <summary>What the modelled collector had to trace and what it took, the means over the time.</summary>
/// <param name="SenderLiveBytes">Live bytes at a sender.</param>
/// <param name="ReceiverLiveBytes">Live bytes at a receiver.</param>
/// <param name="SenderShare">Of all time, what a sender's processor spent on the collector.</param>
/// <param name="ReceiverShare">The same at a receiver.</param>
internal sealed record CollectorFigures(double SenderLiveBytes, double ReceiverLiveBytes, double SenderShare, double ReceiverShare);

/// <summary>What happened at the last receiver, which the perturbations are about.</summary>
/// <param name="LossShare">Of the packets, those that it found missing.</param>
/// <param name="KeptBytes">What it keeps, the mean over the time.</param>
/// <param name="RecoveryMeanMillis">From a gap's discovery to the packet.</param>
internal sealed record PerturbedFigures(double LossShare, double KeptBytes, double RecoveryMeanMillis);
