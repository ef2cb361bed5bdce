using QuickSilver.Core.Buffers;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Sending;

// Packs messages into the packets of one outbound stream, back to back in one block, so that packets that wait together are sent as one
// run. A full packet is exactly PacketBytes long, padded with zeros if a header does not fit. A packet that is closed because no more
// messages wait is as long as its content.
//
// Invariant: an open packet is at [_start, _start + _length) of _block and has the number packets.Next.
//
// Packets that go out sealed have no checksum, and a block has room for no more of them than one run of sealed packets takes.
internal sealed class Packer(
    SlabPool pool, PacketTemplate template, int packetBytes, RetentionBuffer packets, bool isSealed = false)
{
    private int _packetBytes = packetBytes;
    // What of a block is used.
    private int _blockBytes = UsedOf(packetBytes, isSealed);
    // What its packets have apart from their headers.
    private int _blockContent = ContentOf(packetBytes, isSealed);
    private readonly PacketTemplate _template = template;
    private Lease? _block;
    private int _used;
    private int _start;
    private int _length;
    private bool _open;

    public bool HasOpenPacket => _open;

    /// <summary>The size of a full packet. It changes between messages only, and what is packed stays unchanged.</summary>
    public int PacketBytes
    {
        get => _packetBytes;
        set
        {
            Flush();
            _packetBytes = value;
            _blockBytes = UsedOf(value, isSealed);
            _blockContent = ContentOf(value, isSealed);
        }
    }

    /// <summary>Packets up to this one are in blocks that get no more packets: as a run they will not become longer.</summary>
    public long FullThrough { get; private set; }

    /// <summary>The number of blocks that senders may still rent.</summary>
    public long FreeBlocks => pool.FreeToSend;

    private int PacketsInBlock => _blockBytes / _packetBytes;

    /// <summary>How many blocks more a message of so many bytes may take, in whatever state the stream is.</summary>
    public static int MostBlocks(int payloadBytes, int packetBytes) =>
        2 + (WithStart(payloadBytes) / (SlabPool.BlockBytes / packetBytes * (packetBytes - PacketHeader.Bytes)));

    /// <summary>How many blocks more a message of so many bytes may take, in whatever state the stream is.</summary>
    public int MostBlocks(int payloadBytes)
    {
        // It is asked for each message, and few need a division.
        int bytes = WithStart(payloadBytes);
        return bytes < _blockContent ? 2 : 2 + (bytes / _blockContent);
    }

    /// <summary>
    /// The largest payload of a message to so many regions for which the memory of all senders together has room; negative if it has room
    /// for none.
    /// </summary>
    public long MostPayload(int regions)
    {
        long blocks = (pool.Shares.MostToSend - 1) / regions;
        return (blocks * _blockContent) - WithStart(0);
    }

    /// <summary>
    /// How many packets a message of so many bytes closes at most, in whatever state the stream is, and the one that it leaves open.
    /// </summary>
    public int MostPackets(int payloadBytes) => payloadBytes < _packetBytes / 2
        ? 3
        : 3 + (WithStart(payloadBytes) / (_packetBytes - PacketHeader.Bytes));

    /// <summary>The number of further blocks that the message may take, given what is left of the stream's block.</summary>
    public int BlocksFor(int payloadBytes)
    {
        // The rest of the open packet is not counted, because it may be too small for a header.
        int packets = Interval.Parts(WithStart(payloadBytes), _packetBytes - PacketHeader.Bytes);
        int used = _block is null ? _blockBytes : _open ? _start + _packetBytes : _used;
        int more = packets - ((_blockBytes - used) / _packetBytes);
        return more <= 0 ? 0 : Interval.Parts(more, PacketsInBlock);
    }

    /// <summary>Packs one message and returns the number of the packet in which it ends. The caller has checked FreeBlocks.</summary>
    public long Append(ulong topicId, long sequence, StartTable? start, ReadOnlySpan<byte> extensions, ReadOnlySpan<byte> payload)
    {
        var marks = start is null ? MessageMarks.None : MessageMarks.Start;
        int needed = MessageHeader.Bytes + (start?.EncodedBytes ?? 0);
        if (!extensions.IsEmpty)
        {
            marks |= MessageMarks.Extended;
            needed += 1 + extensions.Length;
        }

        if (topicId == MessageHeader.MarkTopic)
        {
            // A mark is read as soon as its packet is held, so it lies in one.
            needed += payload.Length;
        }

        if (_open && _packetBytes - _length < needed)
        {
            Close(pad: true);
        }

        if (!_open)
        {
            Open(headBytes: 0, headDistance: 0);
        }

        var packet = _block!.Span.Slice(_start, _packetBytes);
        MessageHeader.Write(packet[_length..], payload.Length, marks, topicId, sequence);
        _length += MessageHeader.Bytes;
        if (start is not null)
        {
            start.Write(packet[_length..]);
            _length += start.EncodedBytes;
        }

        _length += MessageExtensions.Write(packet[_length..], extensions);
        if (payload.Length <= _packetBytes - _length)
        {
            payload.CopyTo(packet[_length..]);
            _length += payload.Length;
            return packets.Next;
        }

        return Spread(payload);
    }

    /// <summary>Marks the open packet, in which the last message ends, as one that asks for an acknowledgement.</summary>
    public void WantAck() => PacketTemplate.AddFlags(_block!.Span.Slice(_start, _packetBytes), PacketFlags.AckWanted);

    /// <summary>Closes the open packet, if there is one, without padding.</summary>
    public void Flush()
    {
        if (_open)
        {
            Close(pad: false);
        }
    }

    /// <summary>
    /// Returns the block of a stream that has nothing in flight, if packet memory is half used or the block is needed. So any number of
    /// resting streams leave half of the memory to streams that send. A stream that sends again rents another block.
    /// </summary>
    public void Rest(bool isNeeded)
    {
        if (_block is not null && !_open && (isNeeded || pool.IsHalfUsed))
        {
            _block.Release();
            _block = null;
            FullThrough = packets.Last;
        }
    }

    public void Dispose()
    {
        _block?.Release();
        _block = null;
        _open = false;
    }

    private static int WithStart(int payloadBytes) =>
        payloadBytes + MessageHeader.Bytes + StartTable.MaxBytes + 1 + MessageExtensions.MostBytes;

    // Continues the message in as many packets as it needs.
    private long Spread(ReadOnlySpan<byte> payload)
    {
        long first = packets.Next;
        while (true)
        {
            int taken = Math.Min(payload.Length, _packetBytes - _length);
            payload[..taken].CopyTo(_block!.Span[(_start + _length)..]);
            _length += taken;
            payload = payload[taken..];
            if (payload.IsEmpty)
            {
                return packets.Next;
            }

            Close(pad: true);
            Open(Math.Min(payload.Length, _packetBytes - PacketHeader.Bytes), packets.Next - first);
        }
    }

    private static int ContentOf(int packetBytes, bool isSealed) =>
        UsedOf(packetBytes, isSealed) / packetBytes * (packetBytes - PacketHeader.Bytes);

    private static int UsedOf(int packetBytes, bool isSealed) => isSealed
        ? SlabPool.BlockBytes / (packetBytes + SealedPacket.TrailerBytes) * packetBytes
        : SlabPool.BlockBytes;

    private void Open(int headBytes, long headDistance)
    {
        if (_block is null || _blockBytes - _used < _packetBytes)
        {
            _block?.Release();
            FullThrough = packets.Last;
            _block = pool.TryRentToSend() ?? throw new InvalidOperationException("No packet memory, although it was checked before.");
            _used = 0;
        }

        _start = _used;
        _length = PacketHeader.Bytes;
        _open = true;
        _template.Write(_block.Span[_start..], PacketKind.Data, PacketFlags.None, packets.Next, headBytes, headDistance);
    }

    private void Close(bool pad)
    {
        var packet = _block!.Span.Slice(_start, _packetBytes);
        if (pad)
        {
            packet[_length..].Clear();
            _length = _packetBytes;
        }

        if (isSealed)
        {
            PacketTemplate.CompleteWithoutChecksum(packet[.._length]);
        }
        else
        {
            PacketTemplate.Seal(packet[.._length]);
        }

        packets.Append(_block, _start, _length);
        _used = _start + _length;
        _open = false;
    }
}
