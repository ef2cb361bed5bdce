using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Wire;

namespace QuickSilver.Multicast.Nodes;

// Only the core thread writes the counters; any thread may read them. A torn read is impossible on 64-bit machines, and harmless.
internal sealed class MulticastCounters
{
    // By drop reason; null until the first drop.
    private long[]? _drops;

    public long MessagesSent;
    public long MessagesDelivered;
    public long PacketsSent;
    public long PacketsReceived;
    public long BytesSent;
    public long BytesReceived;
    // Packets sent again, by the sender or by a peer on its behalf.
    public long RepairsSent;
    // How often an answer was cut short because the repair budget was used up.
    public long RepairsPutOff;
    // Packets that were sent again, to this node or to all, and were new here.
    public long RepairsReceived;
    // Missing packets that a repair scheme has made of others.
    public long PacketsHealed;
    public long PullsSent;
    // Acknowledgements that reported what all members lack, and such ones that this node has received as a sender.
    public long CollectiveNaksSent;
    public long CollectiveNaksReceived;
    // Packets that this node sent again to all members because of such acknowledgements. They are among the repairs.
    public long RepairsToAll;
    public long GapsSeen;
    public long GapNotices;
    // Messages that were reported as a gap because nothing could bring them any more, although no loss explains it.
    public long MessagesUnaccounted;
    // Messages of best-effort topics for which a reader had no room, and which were not kept.
    public long UnheldMessages;
    // How often the heap had no memory for what was received.
    public long HeapRefusals;
    // How often something waited without progress for longer than the limit.
    public long Stalls;
    public long TokensSent;
    // Notices of other nodes that they stood still.
    public long PausesReported;
    public long EchoesAnswered { get; set; }
    public long TokenTimeouts;
    public long AcksReceived;
    public long SinkExceptions;
    // Packets that were sent once for several regions, to the address of a topic, how many packets that saved, and how many came here.
    public long SharedPacketsSent;
    public long SendsSaved;
    public long SharedPacketsReceived;
    // Copies of data packets to deaf members.
    public long CopiesSent;
    // The senders that this node does not hear over their groups now, and the nodes that do not hear it.
    public long UnheardSenders;
    public long DeafMembers;
    // Echoes that look for the largest packet of a path, packets that were cut because a path does not carry them, and those that came so.
    public long PathProbes;
    public long PacketsCut;
    public long PiecesJoined;
    // The paths that carry less than PacketBytes, and the largest packet that all paths carry; 0: PacketBytes.
    public long SmallPaths;
    public long SmallestPathBytes;
    public long BusySends;
    public long RefusedSends;
    // Runs that could not be sealed and were not sent, because this node does not have the key of their view.
    public long Keyless;
    // How often the system refused the port of a group.
    public long RefusedGroups;
    // Datagrams that the kernel dropped because a receive buffer of this node was full.
    public long KernelDrops;
    public long DuplicateMessages;
    // Of senders that the membership service does not let publish in the topic.
    public long MessagesWithoutRight;
    // The regions of the topics that are open here.
    public long Regions;
    // The views of regions of which this node is a member and that are open, and how many of them newer ones have superseded.
    public long OpenViews;
    public long SupersededViews;
    // For how long the oldest of those has been superseded, and when the last configuration was applied, in ticks of 100 ns.
    public long OldestSupersededTicks;
    public long ConfigurationAgeTicks;
    public long Configuration;
    // How many configurations this node has applied: their numbers are no count, as each service begins its own half of them.
    public long ConfigurationsApplied;

    // The following are null until the first sample. Rings are measured at their leaders.
    public RingTimes TokenRoundTrips => field ??= new RingTimes();

    // From the arrival of a packet at the leader of a ring of level 0 until the result of the ring of each level covers it.
    public RingTimes TimesToAggregate => field ??= new RingTimes();

    // From the sending of a packet until all members are known to hold it.
    public DurationHistogram TimesToAcknowledge => field ??= new DurationHistogram();

    // What limits this node's streams.
    public StreamLimitTimes Limits => LimitsIfAny ??= new StreamLimitTimes();

    // Null until a stream is limited.
    public StreamLimitTimes? LimitsIfAny { get; private set; }

    public void Drop(DropReason reason) => (_drops ??= new long[Enum.GetValues<DropReason>().Length])[(int)reason]++;

    public long Dropped(DropReason reason) => _drops is { } drops ? drops[(int)reason] : 0;

    /// <summary>By reason; empty if nothing was dropped. From any thread.</summary>
    public ReadOnlySpan<long> Drops => _drops;

    public long DroppedInAll
    {
        get
        {
            long sum = 0;
            foreach (long count in _drops ?? [])
            {
                sum += count;
            }

            return sum;
        }
    }
}
