using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Pacing;

namespace QuickSilver.Multicast.Sending;

// Up to where one outbound stream was sent, up to where all members have read and consumed it, and how much more may be sent for now. The
// window bounds what may wait in sockets or for those above. A second bound is on what members keep because something before it is
// missing: a repair takes many times as long as a datagram, so a link that loses needs that one wider. No member acknowledges a
// best-effort stream, so there each run alone is bounded. Where acknowledgements are rare, the sender continues at the rate at which
// members were seen to read.
//
// Invariants: Consumed <= Read <= Sent; of a reliable stream no packet is sent with which Sent - Read would exceed the window, or
// Sent - Consumed so many windows, by more than is trusted to have been read since.
internal sealed class SendWindow(int packetBytes, bool isReliable)
{
    // As many windows are sent before a repair has come.
    public const int RepairWindows = 4;

    private readonly RateController _pace = new(packetBytes);
    private readonly ReceiverRate _rate = new();

    /// <summary>The last packet that was sent.</summary>
    public long Sent { get; private set; }

    /// <summary>All packets up to here came out of every member's socket.</summary>
    public long Read { get; private set; }

    /// <summary>All packets up to here were taken by every member's readers.</summary>
    public long Consumed { get; private set; }

    /// <summary>Packets on the way at most.</summary>
    public int Packets => _pace.WindowPackets;

    /// <summary>Packets that may be sent now; none where it is 0 or less.</summary>
    public long RoomAt(TimeSpan now)
    {
        if (!isReliable)
        {
            return Packets;
        }

        long readSince = Math.Min(_rate.Trust(now, Packets / 2), Sent - Read);
        return Math.Min(Packets - (Sent - Read), (Packets * RepairWindows) - (Sent - Consumed)) + readSince;
    }

    /// <summary>How long until there is room for so many packets, if no acknowledgement comes before; MaxValue if it takes one.</summary>
    public TimeSpan TimeUntilRoom(TimeSpan now, long packets) =>
        isReliable ? _rate.TimeUntil(now, Math.Max(1, packets - RoomAt(now))) : TimeSpan.MaxValue;

    /// <summary>What the window waits for while it is closed to so many packets.</summary>
    public StreamLimit LimitAt(TimeSpan now, long packets)
    {
        if (TimeUntilRoom(now, packets) < TimeSpan.MaxValue)
        {
            return StreamLimit.Rate;
        }

        bool isUnread = Packets - (Sent - Read) <= (Packets * RepairWindows) - (Sent - Consumed);
        return isUnread ? StreamLimit.Window : StreamLimit.Reader;
    }

    /// <summary>How many of the packets that wait go next. None: the window is closed, or too little open.</summary>
    public long NextOf(TimeSpan now, long waiting)
    {
        long room = Math.Min(RoomAt(now), waiting);
        // A call costs about as much for one packet as for a run: where the window is the limit, it opens a run further first.
        // It will, as what is on the way is acknowledged.
        bool isCrack = isReliable && Sent > Read && room < Math.Min(waiting, Packets / 4);
        return isCrack ? 0 : room;
    }

    public void OnSent(TimeSpan now, int packets)
    {
        Sent += packets;
        if (isReliable)
        {
            _rate.OnSent(now, Sent);
        }
    }

    /// <summary>Members have consumed and read up to there. More waits to be sent where the stream has a backlog.</summary>
    public void OnAck(TimeSpan now, long consumed, long read, bool hasBacklog, long kernelDrops, long receiveBufferBytes)
    {
        bool wasFull = hasBacklog || RoomAt(now) <= 0;
        long before = Read;
        Consumed = Math.Max(Consumed, Math.Min(consumed, Sent));
        Read = Math.Max(Math.Max(Read, Consumed), Math.Min(read, Sent));
        bool hasDropped = _pace.OnAck(now, Read - before, wasFull, kernelDrops, receiveBufferBytes);
        _rate.OnReport(now, Read, wasFull, hasDropped);
    }

    /// <summary>Packets up to there that were not sent never will be, and count as sent.</summary>
    public void SkipTo(long last) => Sent = last;
}
