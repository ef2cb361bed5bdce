using QuickSilver.Core.Buffers;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Sending.Packing;

// Packs messages into the packets of one outbound stream, back to back in one block, so that packets that wait together are sent as one
// run. A full packet is exactly PacketBytes long, padded with zeros if a header does not fit. A packet that is closed because no more
// messages wait is as long as its content.
//
// Invariant: the open packet has the number packets.Next.
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
    // Not readonly: it is a struct that has state of its own.
    private PacketBlock _block;

    public bool HasOpenPacket => _block.IsOpen;

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
        int used = _block.IsRented ? _block.UsedWith(_packetBytes) : _blockBytes;
        int more = packets - ((_blockBytes - used) / _packetBytes);
        return more <= 0 ? 0 : Interval.Parts(more, PacketsInBlock);
    }

    /// <summary>Packs one message and returns the number of the packet in which it ends. The caller has checked FreeBlocks.</summary>
    public long Append(ulong topicId, long sequence, StartTable? start, ReadOnlySpan<byte> extensions, ReadOnlySpan<byte> payload)
    {
        // A mark is read as soon as its packet is held, so it lies in one.
        int needed = PacketBlock.BytesBefore(start, extensions) + (topicId == MessageHeader.MarkTopic ? payload.Length : 0);
        if (_block.IsOpen && _packetBytes - _block.Length < needed)
        {
            Close(pad: true);
        }

        if (!_block.IsOpen)
        {
            Open(headBytes: 0, headDistance: 0);
        }

        var rest = _block.Write(_packetBytes, topicId, sequence, start, extensions, payload);
        return rest.IsEmpty ? packets.Next : Spread(rest);
    }

    /// <summary>Marks the open packet, in which the last message ends, as one that asks for an acknowledgement.</summary>
    public void WantAck() => PacketTemplate.AddFlags(_block.Packet(_packetBytes), PacketFlags.AckWanted);

    /// <summary>Closes the open packet, if there is one, without padding.</summary>
    public void Flush()
    {
        if (_block.IsOpen)
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
        if (_block.IsRented && !_block.IsOpen && (isNeeded || pool.IsHalfUsed))
        {
            _block.Release();
            FullThrough = packets.Last;
        }
    }

    public void Dispose() => _block.Release();

    private static int WithStart(int payloadBytes) =>
        payloadBytes + MessageHeader.Bytes + StartTable.MaxBytes + 1 + MessageExtensions.MostBytes;

    // Continues the message in as many packets as it needs.
    private long Spread(ReadOnlySpan<byte> rest)
    {
        long first = packets.Next;
        while (!rest.IsEmpty)
        {
            Close(pad: true);
            Open(Math.Min(rest.Length, _packetBytes - PacketHeader.Bytes), packets.Next - first);
            rest = _block.Write(_packetBytes, rest);
        }

        return packets.Next;
    }

    private static int ContentOf(int packetBytes, bool isSealed) =>
        UsedOf(packetBytes, isSealed) / packetBytes * (packetBytes - PacketHeader.Bytes);

    private static int UsedOf(int packetBytes, bool isSealed) => isSealed
        ? SlabPool.BlockBytes / (packetBytes + SealedPacket.TrailerBytes) * packetBytes
        : SlabPool.BlockBytes;

    private void Open(int headBytes, long headDistance)
    {
        if (!_block.IsRented || _blockBytes - _block.Used < _packetBytes)
        {
            FullThrough = packets.Last;
            _block.Rent(pool);
        }

        _template.Write(_block.Open(), PacketKind.Data, PacketFlags.None, packets.Next, headBytes, headDistance);
    }

    private void Close(bool pad)
    {
        if (pad)
        {
            _block.Pad(_packetBytes);
        }

        var packet = _block.Packet(_block.Length);
        if (isSealed)
        {
            PacketTemplate.CompleteWithoutChecksum(packet);
        }
        else
        {
            PacketTemplate.Seal(packet);
        }

        packets.Append(_block.Lease, _block.Start, _block.Length);
        _block.Close(behind: 0);
    }
}
