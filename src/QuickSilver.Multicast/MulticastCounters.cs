using QuickSilver.Core.Wire;

namespace QuickSilver.Multicast;

// Written by the core thread, read by anyone at leisure (a torn read is impossible on 64-bit machines, and harmless).
internal sealed class MulticastCounters
{
    // By reason; made with the first.
    private long[]? _drops;

    public long MessagesSent;
    public long MessagesDelivered;
    public long PacketsSent;
    public long PacketsReceived;
    public long BytesSent;
    public long BytesReceived;
    // Packets sent again, by the sender or by a peer on its behalf.
    public long RepairsSent;
    // Times that an answer was cut short since the node had sent as much again as it may.
    public long RepairsPutOff;
    // Packets that came as an answer to a pull or a push and were new.
    public long RepairsReceived;
    public long PullsSent;
    public long GapsSeen;
    public long GapNotices;
    // Messages of best-effort topics for which a reader had no room, and which were not kept either.
    public long UnheldMessages;
    // Times that something waited without progress for longer than the limit.
    public long Stalls;
    public long TokensSent;
    public long EchoesAnswered { get; set; }
    public long TokenTimeouts;
    public long AcksReceived;
    public long SinkExceptions;
    // Of data packets, to members that do not hear the group.
    public long CopiesSent;
    // Senders that this node does not hear over their groups, and nodes that do not hear it, now.
    public long UnheardSenders;
    public long DeafMembers;
    public long BusySends;
    public long RefusedSends;
    // Times that the system refused the port of a group.
    public long RefusedGroups;
    public long UnackedBytes;
    // Datagrams the kernel dropped at this node's full receive buffers.
    public long KernelDrops;
    public long DuplicateMessages;
    // Regions that the topics open here reach.
    public long Regions;

    public void Drop(DropReason reason) => (_drops ??= new long[Enum.GetValues<DropReason>().Length])[(int)reason]++;

    public long Dropped(DropReason reason) => _drops is { } drops ? drops[(int)reason] : 0;

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
