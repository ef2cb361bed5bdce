using System.Runtime.CompilerServices;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Reassembly;

namespace QuickSilver.Multicast.Receiving;

// What one member of a view has of one sender's stream: packets in any order in, messages in any order out (order per topic
// is made above), each packet once. Messages that lie in one packet are handed up when it arrives; those that span packets
// when the last piece is there. A lost packet holds back only the messages that it carried, and a topic without room above only
// its own, as long as few packets came after: then messages of other topics go past. Of the many that come while a fast stream
// waits most would only be held above, message by message, in memory that is cold again when they go on; so packets further on
// are read when what is before them has gone up.
//
// Invariants: Base - 1 <= Consumed <= _parsed <= Contiguous, and unless it is held up, _parsed is Contiguous after each call but
// Unhold, which those above call in the midst of their work: then OnUnread asks them to call ReadOn.
internal sealed class InboundStream
{
    // Packets that are read at once behind one that is not consumed.
    private const int ReadAhead = 32;

    private readonly MulticastContext _context;
    private readonly IStreamConsumer _consumer;
    private readonly ReceiveMemory _memory;
    private readonly PacketWindow _packets;
    private readonly ReceiveWindow _window;
    private readonly StreamAssembler _assembler;
    private bool _delivering;
    // All packets up to here are parsed.
    private long _parsed;
    // As many packets as may be are parsed and not consumed: no more until all of them are, so that most are read when their
    // messages can go up.
    private bool _isHeldUp;
    // Those above were told of a loss before all that came was parsed: they could not see yet what is missing of their topics.
    private bool _isLossUnread;
    private StreamPhase _phase;
    // Packets up to here that others keep are dropped.
    private long _dropped;
    // Whether the stream is heard over its group: PacketWays' note.
    public HeardMark Heard;

    public InboundStream(MulticastContext context, RegionView view, NodeKey sender, StreamClass streamClass, IStreamConsumer consumer)
    {
        _context = context;
        _consumer = consumer;
        _memory = context.Memory;
        _packets = new PacketWindow(context.Options.WindowPackets, _memory);
        _window = new ReceiveWindow(_packets, context.Options);
        _assembler = new StreamAssembler(context, this, _packets, consumer);
        View = view;
        Sender = sender;
        Class = streamClass;
    }

    public RegionView View { get; }
    public NodeKey Sender { get; }
    public StreamClass Class { get; }
    public bool IsReliable => Class.IsReliable;
    // What those above keep with the stream: theirs alone.
    public object? Above { get; set; }
    public SequenceRanges Missing => _window.Missing;
    // The highest number known to have been sent.
    public long Highest => _window.Highest;
    // All up to here were received or given up.
    public long Contiguous => _window.Contiguous;
    // All messages in packets up to here were accepted above.
    public long Consumed { get; private set; }
    // All up to here came out of the socket and waits for nothing but a repair. Where nothing is missing, what waits does so for
    // those above, and the sender is to wait with it.
    public long Read => Missing.Count > 0 ? _window.Arrived : Consumed;
    // All live members hold the packets up to here: the cache may let them go.
    public long Stable { get; private set; }
    // Those who keep a packet hold all theirs up to here: others need not keep them too.
    public long Replicated { get; private set; }
    // This member holds all that it is to keep for others up to here.
    public long KeptContiguous => Keepers.Partitions == 1 ? Contiguous : FirstMissingToKeep() - 1;
    public required Retention Retention { get; set; }
    public required PacketKeepers Keepers { get; init; }
    public required int OwnPartition { get; init; }
    public IGapObserver? Gaps { get; init; }
    // The sender is not in the directory: what is missing can be had of the other members only.
    public bool IsSenderGone => _phase.IsSenderGone;
    // The members are deciding what of it is lost: this one has told what it lacks, and takes nothing meanwhile.
    public bool IsRefusing => _phase.IsDeciding;
    // All that came, up to the first that is missing, was parsed: nothing is held up.
    public bool IsRead => _parsed == Contiguous;
    // Nothing is open: all that is known was received, handed up and accepted.
    // One that does not repair waits for no number that is only told of.
    public bool IsDrained => Consumed == (IsReliable ? Highest : _window.Arrived);
    // A message has begun of which packets have not come.
    public bool IsAnyOpen => _assembler.IsAnyOpen;

    /// <summary>Takes a packet of this stream; None, or why it was refused.</summary>
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

        Lease? place = null;
        if (_memory.IsShort)
        {
            // What is behind a gap, or beyond the stream's places, is as good as not received; that it was sent is known.
            place = sequence == Contiguous + 1 ? _memory.TryPlace(lease.Span.Slice(offset, length), _packets.Placed) : null;
            if (place is null)
            {
                OnAnnounced(sequence);
                return DropReason.NoMemory;
            }

            (lease, offset) = (place, 0);
        }

        if (sequence <= _window.Arrived)
        {
            Gaps?.OnFilled(this, sequence, _packets.Missing(sequence));
        }

        NoteMissed(_window.Take(sequence, lease, offset, length, NowIf(sequence > _window.Arrived + 1)));
        if (!IsReliable || (!_isHeldUp && sequence - Consumed <= ReadAhead))
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

    /// <summary>Bytes of what is kept, for others or because something before it is missing.</summary>
    public long KeptBytes => _packets.HeldBytes;

    /// <summary>Of the packets that are missing, as many as there is memory for: the others would be asked for in vain.</summary>
    public int MayAskFor => _memory.IsShort ? _memory.MayPlace(_packets.Placed) : int.MaxValue;

    /// <summary>What is noted of a number that is missing.</summary>
    public ref PacketSlot MissingSlot(long number) => ref _packets.Missing(number);

    /// <summary>Learns that numbers up to this one were sent.</summary>
    public void OnAnnounced(long highest) => NoteMissed(_window.OnAnnounced(highest, NowIf(highest > _window.Arrived)));

    /// <summary>What others tell of the stream, where it can be so, or else 0.</summary>
    public long Believable(long number) => _window.Believable(number, NowIf(number > Highest));

    /// <summary>
    /// The sender says up to where it has sent. True when others told of more, which is not missing any more.
    /// </summary>
    public bool TryRetract(long sent) => !IsSenderGone && _window.TryRetract(sent, _context.Environment.Now);

    /// <summary>Whether it was sent, as far as is known here, and is not held.</summary>
    public bool Lacks(long sequence) => _window.Lacks(sequence);

    public void OnSenderLeft() => _phase.SenderLeft();

    public void OnSenderReturned() => _phase.SenderReturned();

    /// <summary>The members begin to decide what is lost: from now on nothing is taken.</summary>
    public void BeginDecision() => _phase.BeginDecision();

    /// <summary>They have decided, or begin anew.</summary>
    public void EndDecision() => _phase.EndDecision();

    public void SetStable(long stable, long replicated)
    {
        if (stable > Stable || replicated > Replicated)
        {
            Stable = Math.Max(Stable, Math.Min(stable, Contiguous));
            Replicated = Math.Max(Replicated, replicated);
            Advance(mayRead: true);
        }
    }

    /// <summary>
    /// What of the packets not known to be stable this member has not, or not any more, up to a number; the oldest ranges first.
    /// </summary>
    public void CopyUnsupplied(long through, SequenceRanges into) => _window.CopyUnsupplied(Stable, through, into);

    /// <summary>Gives up numbers that nobody alive has; what waits behind them goes on, with a gap notice.</summary>
    public void GiveUp(long first, long last)
    {
        NoteMissed(_window.Miss(Math.Min(last, Highest), _context.Environment.Now));
        if (!_window.TryGiveUp(first, last))
        {
            return;
        }

        _assembler.DropBroken();
        Advance(mayRead: true);
        if (IsReliable)
        {
            // Of the others the numbers in their topics tell.
            TellLoss();
        }
    }

    /// <summary>Now and then: what was needed once need not be kept for ever.</summary>
    public void Trim() => _packets.Trim(_window.Arrived);

    /// <summary>Nothing more will come of the messages that have begun.</summary>
    public void GiveUpOpen() => _assembler.DropOpen();

    /// <summary>What came is not all read: those above are told again that something is lost when more of it is.</summary>
    public bool AwaitRead()
    {
        _isLossUnread |= !IsRead;
        return _isLossUnread;
    }

    /// <summary>Tells those above that nothing more comes of a sender that is gone.</summary>
    public void Finish() => TellLoss();

    /// <summary>The packet, unless it was sent to the same member less than a while ago.</summary>
    public bool TryGetPacket(long sequence, NodeKey to, TimeSpan spacing, out ReadOnlySpan<byte> packet)
    {
        packet = default;
        if (!_packets.Holds(sequence))
        {
            return false;
        }

        ref var slot = ref _packets[sequence];
        var now = _context.Environment.Now;
        byte mark = (byte)to.Id;
        if (slot.SentAt != TimeSpan.MinValue && slot.SentTo == mark && now - slot.SentAt < spacing)
        {
            return false;
        }

        slot.SentTo = mark;
        slot.SentAt = now;
        packet = slot.Packet;
        return true;
    }

    /// <summary>A message that ends in this packet is kept above.</summary>
    public void Hold(long packet) => _packets[packet].Pending++;

    /// <summary>A kept message was accepted or dropped.</summary>
    public void Unhold(long packet)
    {
        _packets[packet].Pending--;
        if (!_delivering)
        {
            Advance(mayRead: false);
            if (!IsRead && !_isHeldUp)
            {
                _consumer.OnUnread(this);
            }
        }
    }

    /// <summary>After OnUnread: goes on with what was held up.</summary>
    public void ReadOn()
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

    // More was lost in a row than the window holds. Nothing repairs it, so the stream goes on here; the numbers in the topics tell.
    private bool TrySkipTo(long sequence)
    {
        if (IsReliable || sequence > MessageHeader.MaxNumber)
        {
            return false;
        }

        _assembler.DropOpen();
        _window.SkipTo(sequence);
        _parsed = Consumed = sequence - 1;
        return true;
    }

    // A look at the clock costs as much as the rest of a packet's way: only where the window asks for the time.
    private TimeSpan NowIf(bool isNeeded) => isNeeded ? _context.Environment.Now : default;

    private void NoteMissed(SequenceRange missed)
    {
        if (missed.Last >= missed.First)
        {
            Gaps?.OnMissed(this, missed.First, missed.Last);
        }
    }

    private long FirstMissingToKeep()
    {
        for (int i = 0; i < Missing.Count; i++)
        {
            var (first, last) = Missing[i];
            long kept = Keepers.FirstKeptBy(OwnPartition, first);
            if (kept <= last)
            {
                return kept;
            }
        }

        return _window.Arrived + 1;
    }

    private void DropWhatOthersKeep(long through)
    {
        for (long n = Math.Max(_dropped + 1, _packets.Base); n <= through; n++)
        {
            if (Keepers.KeeperOf(n) != OwnPartition)
            {
                _packets.Drop(n);
            }
        }

        _dropped = Math.Max(_dropped, through);
    }

    private void TellLoss()
    {
        _isLossUnread = !IsRead;
        _consumer.OnLoss(this);
    }

    private void Advance(bool mayRead)
    {
        if (_assembler.IsWaiting && !_delivering)
        {
            _delivering = true;
            _assembler.BeginDeferred();
            _delivering = false;
        }

        long contiguous = Contiguous;
        long before = _parsed;
        while (true)
        {
            while (Consumed < _parsed && _packets[Consumed + 1].Pending == 0)
            {
                Consumed++;
            }

            _isHeldUp = IsReliable && _parsed - Consumed >= (_isHeldUp ? 1 : ReadAhead);
            if (_parsed == contiguous)
            {
                break;
            }

            ref var slot = ref _packets[_parsed + 1];
            if (slot.State == SlotState.Held && !slot.IsParsed)
            {
                if (_isHeldUp || !mayRead)
                {
                    break;
                }

                Parse(_parsed + 1, slot.Lease!, slot.Offset, slot.Length);
            }

            _parsed++;
        }

        if (_isLossUnread && _parsed > before)
        {
            TellLoss();
        }

        _packets.ReleaseThrough(Retention == Retention.None ? Consumed : Math.Min(Consumed, Stable));
        if (Keepers.Partitions > 1 && Retention != Retention.All)
        {
            DropWhatOthersKeep(Math.Min(Consumed, Replicated));
        }
    }

    // A packet that is not read yet. But a sender takes for known where a topic begins once all members hold the message that
    // says so: that one is read at once, and put together from wherever its pieces lie.
    private void Skim(long sequence, Lease lease, int offset, int length)
    {
        var packet = lease.Span.Slice(offset, length);
        var header = new PacketHeader(packet);
        if (header.HeadBytes > 0)
        {
            _delivering = true;
            _assembler.Continue(sequence, header.HeadDistance);
            _delivering = false;
        }

        int at = PacketHeader.Bytes + header.HeadBytes;
        while (at < length && MessageHeader.TryRead(packet[at..], out int bytes, out var marks, out _, out _))
        {
            if ((marks & MessageMarks.Start) != 0)
            {
                Parse(sequence, lease, offset, length);
                return;
            }

            at += MessageHeader.Bytes;
            if (marks != MessageMarks.None)
            {
                if (!MessagePreamble.TryMeasure(packet[at..], marks, out var preamble))
                {
                    return;
                }

                at += preamble.Bytes;
            }

            at += bytes;
        }
    }

    private void Parse(long sequence, Lease lease, int offset, int length)
    {
        _packets[sequence].IsParsed = true;
        byte[] slab = lease.Slab;
        int from = lease.Start + offset;
        var packet = new ReadOnlySpan<byte>(slab, from, length);
        var header = new PacketHeader(packet);
        _delivering = true;
        if (header.HeadBytes > 0)
        {
            _assembler.Continue(sequence, header.HeadDistance);
        }

        var message = new StreamMessage(Sender) { EndPacket = sequence };
        int at = PacketHeader.Bytes + header.HeadBytes;
        while (MessageHeader.TryRead(packet[at..], out int bytes, out var marks, out ulong topicId, out long number))
        {
            at += MessageHeader.Bytes;
            int payload = at;
            int fieldBytes = 0;
            if (marks != MessageMarks.None)
            {
                payload = ReadPreamble(packet, at, marks, ref message, out fieldBytes);
            }

            if (payload < 0 || bytes > MulticastOptions.MaxMessageBytes || number is <= 0 or > MessageHeader.MaxNumber)
            {
                _context.Counters.Drop(DropReason.Malformed);
                break;
            }

            if (payload + bytes > packet.Length)
            {
                _assembler.Begin(sequence, topicId, number, bytes, marks, packet[at..]);
                break;
            }

            message.Delivered.Set(topicId, number, slab, from + payload, bytes, fieldBytes);
            _consumer.OnMessage(this, message);
            at = payload + bytes;
            if (marks != MessageMarks.None)
            {
                message.StartTable = default;
            }
        }

        _delivering = false;
    }

    // Out of line: few messages have one. Returns where the payload begins; below 0, the preamble is damaged.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int ReadPreamble(ReadOnlySpan<byte> packet, int at, MessageMarks marks, ref StreamMessage message, out int fieldBytes)
    {
        if (!MessagePreamble.TryMeasure(packet[at..], marks, out var preamble))
        {
            fieldBytes = 0;
            return -1;
        }

        fieldBytes = preamble.FieldBytes;
        message.StartTable = packet.Slice(at, preamble.TableBytes);
        return at + preamble.Bytes;
    }
}
