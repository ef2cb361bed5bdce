using QuickSilver.Core.Buffers;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Receiving.States;
using QuickSilver.Multicast.Receiving.Windows;
using QuickSilver.Multicast.Schemes;

namespace QuickSilver.Multicast.Receiving;

// The stream of one sender, as one member of a view receives it. Packets come in any order. Messages are passed on in any order, each
// once; the layer above restores the order per topic. A message that lies in one packet is passed on when the packet arrives, and a
// message that spans packets when its last piece has arrived. A lost packet holds back only its own messages. A topic without room above
// holds back only its own messages too, as long as few packets came after them: messages of other topics overtake (ReadCursor).
//
// Invariants: Base - 1 <= Consumed <= Parsed <= Contiguous. Unless the stream is held up or starved, Parsed equals Contiguous after each
// call.
// Unhold is the exception, because the layer above calls it in the middle of its work: OnUnread then asks that layer to call ReadOn.
internal sealed partial class InboundStream : ConsumedStream, IHeapWaiter, IRepairedStream, ITrackedStream
{
    private readonly NodeContext _context;
    private readonly IStreamConsumer _consumer;
    private readonly ReceiveMemory _memory;
    private readonly HeapShortage _shortage;
    private readonly PacketWindow _packets;
    private readonly ReceiveWindow _window;
    private readonly StreamAssembler _assembler;
    private bool _delivering;
    private long _stable;
    // Not readonly: these are structs that have state of their own. The last is what this member keeps for others.
    private ReadCursor _cursor;
    private LossReport _loss;
    private StreamPhase _phase;
    private KeptPackets _kept;
    // What came of the stream lately; SenderShares maintains it.
    public StreamTraffic Traffic;
    // Whether the stream is heard over its group; PacketWays maintains it.
    public HeardMark Heard;

    public InboundStream(
        ReceivingParts parts, RegionView view, StreamKey key, IStreamConsumer consumer, in KeptPackets kept)
        : base(view, key)
    {
        var context = parts.Node;
        _context = context;
        _consumer = consumer;
        _memory = parts.Memory;
        _shortage = context.Shortage;
        _kept = kept;
        _packets = new PacketWindow(context.Options.WindowPackets, _memory);
        _window = new ReceiveWindow(_packets, context.Options);
        _assembler = new StreamAssembler(parts, this, _packets, consumer);
    }

    public SequenceRanges Missing => _window.Missing;
    // The highest number known to have been sent.
    public long Highest => _window.Highest;
    public override long Contiguous => _window.Contiguous;
    public override long Arrived => _window.Arrived;
    // All messages in packets up to here were accepted above.
    public long Consumed => _cursor.Consumed;
    // All packets up to here have left the socket, and wait for nothing but a repair. If no packet is missing, the packets that wait do so
    // for the layer above, and the sender must wait too.
    public long Read => Missing.Count > 0 ? _window.Arrived : Consumed;
    public override long Stable => _stable;
    // The keepers of each packet up to here hold it, so other members need not keep it.
    public long Replicated => _kept.Replicated;
    // This member holds all packets up to here that it must keep for others.
    public long KeptContiguous => _kept.Contiguous(_window);

    public Retention Retention
    {
        get => _kept.Retention;
        set => _kept.Retention = value;
    }

    // Packets from here on are not dropped although other members keep them: members of this member's ring lack them.
    public long KeepFrom
    {
        get => _kept.KeepFrom;
        set => _kept.KeepFrom = value;
    }

    public IGapObserver? Gaps { get; init; }
    public override bool IsSenderGone => _phase.IsSenderGone;
    // The members are deciding what of the stream is lost. This member has reported what it lacks, and accepts nothing until the decision.
    public bool IsRefusing => _phase.IsDeciding;
    // All packets before the first missing one are parsed: nothing is held up.
    public bool IsRead => _cursor.Parsed == Contiguous;
    public override bool HasRead(long packet) => _cursor.Parsed >= packet && !_assembler.IsWaitingBefore(packet);
    // The packet was received or given up.
    public bool HasHad(long packet) => _window.HasHad(packet);
    // Everything that is known was received, passed on and accepted.
    public bool IsDrained => Consumed == Highest;
    // A message has begun of which packets have not come.
    public bool IsAnyOpen => _assembler.IsAnyOpen;

    /// <summary>A stream that was given up continues behind its end: all members hold the packets up to there.</summary>
    public void ResumeBehind(long through)
    {
        _window.SkipTo(through + 1);
        _stable = through;
        _cursor.SkipTo(through);
        _kept.SkipTo(through);
    }

    /// <summary>Accepts a packet of this stream. Returns None, or the reason for refusing it.</summary>
    public DropReason Accept(long sequence, Lease lease, int offset, int length)
    {
        if (IsRefusing)
        {
            return DropReason.Undecided;
        }

        if (_window.HasHad(sequence))
        {
            return DropReason.Duplicate;
        }

        if (!_packets.Takes(sequence) && !TrySkipTo(sequence))
        {
            return DropReason.OutOfWindow;
        }

        if (_window.IsTight(sequence) && !TryPrepare(sequence))
        {
            return DropReason.NoMemory;
        }

        Lease? place = null;
        if (_memory.IsShort)
        {
            place = TryPlace(sequence, lease, offset, length);
            if (place is null)
            {
                return DropReason.NoMemory;
            }

            (lease, offset) = (place, 0);
        }

        if (sequence <= _window.Arrived)
        {
            Gaps?.OnFilled(this, sequence, _packets.Missing(sequence));
        }

        NoteMissed(_window.Take(sequence, lease, offset, length, NowIf(sequence > _window.Arrived + 1)));
        if (!IsReliable || _cursor.MayRead(sequence))
        {
            Parse(sequence, lease, offset, length);
        }
        else
        {
            Skim(sequence, lease, offset, length);
        }

        Advance(mayRead: true);
        place?.Release();
        return DropReason.None;
    }

    public override NodeHeap Heap => _memory.Heap;

    /// <summary>The slot of a missing number.</summary>
    public ref PacketSlot MissingSlot(long number) => ref _packets.Missing(number);

    /// <summary>
    /// Records that numbers up to this one were sent. An unreliable stream is not repaired, so it does not wait for a number that is only
    /// announced.
    /// </summary>
    public void OnAnnounced(long highest)
    {
        if (IsReliable)
        {
            NoteAnnounced(highest);
        }
    }

    /// <summary>Returns a number that another member reported of the stream if it can be true, and 0 otherwise.</summary>
    public long Believable(long number) => _window.Believable(number, NowIf(number > Highest));

    /// <summary>
    /// The sender reports how far it has sent. Returns true when others reported more, which then counts as missing no more.
    /// </summary>
    public bool TryRetract(long sent) => !IsSenderGone && _window.TryRetract(sent, _context.Environment.Now);

    // This member knows that the packet was sent, and does not hold it.
    public bool Lacks(long sequence) => _window.Lacks(sequence);

    public void OnSenderLeft() => _phase.SenderLeft();
    public void OnSenderReturned() => _phase.SenderReturned();
    /// <summary>The members begin to decide what is lost. From now on nothing is accepted.</summary>
    public void BeginDecision() => _phase.BeginDecision();

    /// <summary>The members have decided, or start again.</summary>
    public void EndDecision() => _phase.EndDecision();

    public void SetStable(long stable, long replicated)
    {
        bool isMore = _kept.Replicate(replicated);
        if (stable > Stable || isMore)
        {
            _stable = Math.Max(Stable, Math.Min(stable, Contiguous));
            Advance(mayRead: true);
            _consumer.OnStable(this);
        }
    }

    /// <summary>
    /// Copies the numbers up to a limit that are not known to be stable and that this member cannot supply, the oldest ranges first. It
    /// may have consumed and dropped some of them.
    /// </summary>
    public void CopyUnsupplied(long through, SequenceRanges into) => _window.CopyUnsupplied(Stable, through, into);

    /// <summary>Gives up numbers that no live member has. Packets that wait behind them continue, and endpoints get a gap notice.</summary>
    public void GiveUp(long first, long last)
    {
        if (!TryGiveUp(first, last))
        {
            return;
        }

        _assembler.DropBroken();
        Advance(mayRead: true);
        if (IsReliable)
        {
            // In an unreliable stream, the message numbers of each topic show the loss.
            ReportLoss();
        }
    }

    /// <summary>Drops the messages that have begun, because nothing more of them will come.</summary>
    public void GiveUpOpen() => _assembler.DropOpen();

    /// <summary>
    /// Returns whether received packets are not parsed yet, or messages in them wait for memory. If so, the loss is reported above again
    /// when that is less.
    /// </summary>
    public bool AwaitRead()
    {
        _loss.Await(IsAnyUnread);
        return _loss.IsDue;
    }

    public override bool AwaitReadThrough(long packet)
    {
        bool isUnread = !HasRead(packet);
        _loss.Await(isUnread);
        return isUnread;
    }

    /// <summary>Reports to the layer above that nothing more comes of a departed sender.</summary>
    public void Finish() => ReportLoss();

    /// <summary>Whether a packet that this node holds was last sent again to this member.</summary>
    public bool WasSentTo(long sequence, NodeKey member) => _packets.Holds(sequence) && _packets[sequence].WasSentTo(member);

    /// <summary>Gets the packet, unless it was sent to the same member within the spacing.</summary>
    public bool TryGetPacket(long sequence, NodeKey to, TimeSpan spacing, out ReadOnlySpan<byte> packet)
    {
        packet = _packets.Holds(sequence) && _packets[sequence].TryNoteSent(to, _context.Environment.Now, spacing)
            ? _packets[sequence].Packet
            : default;
        return !packet.IsEmpty;
    }

    /// <summary>
    /// Notes that the other members lack a packet that this one holds. Returns whether to send it to them: not the first time, because it
    /// may have reached all of them at about the same time, and then after waits that double, because what was sent may wait at them.
    /// </summary>
    public bool TryOffer(long sequence, TimeSpan spacing, TimeSpan most) =>
        _packets.Holds(sequence) && _packets[sequence].TryOffer(_context.Environment.Now, spacing, most);

    public override void Hold(long packet) => _packets[packet].Pending++;

    public override void Unhold(long packet)
    {
        _packets[packet].Pending--;
        if (!_delivering)
        {
            try
            {
                Advance(mayRead: false);
                if (!IsRead && !_cursor.IsHeldUp)
                {
                    _consumer.OnUnread(this);
                }
            }
            catch (OutOfMemoryException)
            {
                _shortage.Await(this);
            }
        }
    }

    public override void ReadOn()
    {
        if (!_phase.IsClosed)
        {
            Advance(mayRead: true);
        }
    }

    public void Close()
    {
        _phase.Close();
        _window.Clear();
        _assembler.Close();
    }

    // More consecutive packets were lost than the window holds. Nothing repairs them, so the stream continues here; the message numbers of
    // each topic show the loss.
    private bool TrySkipTo(long sequence)
    {
        if (IsReliable || sequence > MessageHeader.MaxNumber)
        {
            return false;
        }

        _assembler.DropOpen();
        _window.SkipTo(sequence);
        _cursor.SkipTo(sequence - 1);
        return true;
    }

    // Reading the clock costs as much as the rest of the path of a packet, so it is read only where the window needs the time.
    private TimeSpan NowIf(bool isNeeded) => isNeeded ? _context.Environment.Now : default;

    private void NoteMissed(SequenceRange missed)
    {
        if (missed.Last >= missed.First)
        {
            Gaps?.OnMissed(this, missed.First, missed.Last);
        }
    }

    private void ReportLoss()
    {
        _loss.Begin(IsAnyUnread);
        try
        {
            _consumer.OnLoss(this);
        }
        catch (OutOfMemoryException)
        {
            // Reported again when the stream reads on.
            _loss.Refuse();
            _shortage.Await(this);
        }
    }

    private bool IsAnyUnread => !IsRead || _assembler.IsWaiting;

    private void Advance(bool mayRead)
    {
        bool hasBegun = false;
        if (_assembler.IsWaiting && !_delivering)
        {
            hasBegun = TryBeginDeferred();
        }

        long contiguous = Contiguous;
        long before = _cursor.Parsed;
        while (true)
        {
            while (Consumed < _cursor.Parsed && _packets[Consumed + 1].Pending == 0)
            {
                _cursor.Consume();
            }

            _cursor.HoldUp(IsReliable);
            long next = _cursor.Parsed + 1;
            if (next > contiguous)
            {
                break;
            }

            ref var slot = ref _packets[next];
            if (slot.State == SlotState.Held && !slot.IsParsed)
            {
                if (_cursor.IsHeldUp || IsStarved || !mayRead)
                {
                    break;
                }

                Parse(next, slot.Lease!, slot.Offset, slot.Length);
                if (IsStarved && !_packets[next].IsParsed)
                {
                    break;
                }
            }

            _cursor.Parse();
        }

        if (_loss.IsDue && _loss.TryRepeat(_cursor.Parsed > before || hasBegun, !_shortage.IsPausing))
        {
            ReportLoss();
        }

        _kept.Release(_packets, Consumed, Stable);
        if (Stable >= _cursor.Parsed && (_cursor.Parsed > before || hasBegun))
        {
            // Read late: it is known already that all members hold it.
            _consumer.OnStable(this);
        }
    }

    // A packet that is held up is not parsed, with one exception. A sender assumes that the members know where a topic begins once all of
    // them hold the message with its start table. So such a message is parsed at once, and reassembled wherever its pieces are.
    private void Skim(long sequence, Lease lease, int offset, int length)
    {
        var packet = lease.Span.Slice(offset, length);
        var header = new PacketHeader(packet);
        if ((header.HeadBytes == 0 || TryContinue(sequence, header.HeadDistance)) && PacketParser.HasStart(packet))
        {
            Parse(sequence, lease, offset, length);
        }
    }

    // False: a message must wait until an older stream is read, and so must what follows it in the packet.
    //
    // The loop of PacketParser by hand: with its state outside of registers, each message would take 3 % longer.
    private bool ReadMessages(long sequence, Lease lease, int offset, int length)
    {
        _packets[sequence].IsParsed = true;
        int from = lease.Start + offset;
        ReadOnlySpan<byte> packet = lease.Span.Slice(offset, length);
        var header = new PacketHeader(packet);
        _delivering = true;
        if (header.HeadBytes > 0)
        {
            _assembler.Continue(sequence, header.HeadDistance);
        }

        var message = new StreamMessage(Sender) { EndPacket = sequence };
        message.Delivered.Begin(lease.Slab);
        int at = PacketHeader.Bytes + header.HeadBytes;
        while (MessageHeader.TryRead(packet[at..], out int bytes, out var marks, out ulong topicId, out long number))
        {
            at += MessageHeader.Bytes;
            int payload = at;
            int fieldBytes = 0;
            if (marks != MessageMarks.None)
            {
                if ((marks & MessageMarks.Start) != 0 && IsReliable && !_consumer.KnowsOlderBeginnings(this))
                {
                    _delivering = false;
                    return false;
                }

                payload = message.ReadPreamble(packet, at, marks, out fieldBytes);
            }

            if (payload < 0 || bytes > NodeOptions.MaxMessageBytes || number is <= 0 or > MessageHeader.MaxNumber)
            {
                _context.Counters.Drop(DropReason.Malformed);
                break;
            }

            if (payload + bytes > packet.Length)
            {
                _assembler.Begin(sequence, topicId, number, bytes, marks, packet[at..]);
                break;
            }

            message.Delivered.Set(topicId, number, from + payload, bytes, fieldBytes);
            _consumer.OnMessage(this, message);
            at = payload + bytes;
            if (marks != MessageMarks.None)
            {
                message.StartTable = default;
            }
        }

        _delivering = false;
        return true;
    }
}
