namespace QuickSilver.Simulation;

// What a node's machine is like; may be changed while the simulation runs.
internal sealed class NodeModel
{
    /// <summary>Time that its core thread takes for each datagram; zero: none, and its receive buffers seldom fill.</summary>
    public TimeSpan CostPerDatagram { get; set; }

    /// <summary>Time for each other event (alarm, request, stream bytes).</summary>
    public TimeSpan CostPerEvent { get; set; }

    /// <summary>How often the system has no room for a send (F13: ENOBUFS, ENOMEM).</summary>
    public double SendBusyProbability { get; set; }

    /// <summary>Datagrams lost at this node's own network card, whoever sent them.</summary>
    public double InboundLoss { get; set; }

    /// <summary>The system's limit on receive buffers (F13: a tiny one), below what ports ask for. Null: no limit.</summary>
    public int? ReceiveBufferLimitBytes { get; set; }

    /// <summary>How often the segments of a run that arrive together are handed up as one run, as receive offload does.</summary>
    public double CoalesceProbability { get; set; } = 0.5;

    /// <summary>False: as on a system that lacks segmentation offload, a run is one datagram, out and in.</summary>
    public bool SegmentationOffload { get; set; } = true;

    /// <summary>Undoes what faults changed.</summary>
    public void Heal()
    {
        SendBusyProbability = 0;
        InboundLoss = 0;
        ReceiveBufferLimitBytes = null;
    }
}
