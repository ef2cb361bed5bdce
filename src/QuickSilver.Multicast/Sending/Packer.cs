using QuickSilver.Core.Buffers;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.Sending;

// Packs messages into the packets of one outbound stream, back to back in one block, so that packets which wait together
// go out as one run. A full packet is exactly PacketBytes long (padded by zeros where a header would not fit); a packet
// closed because nothing more waits is as long as what it holds.
//
// Invariant: a packet that is open lies at [_start, _start + _length) of _block and has the number packets.Next.
internal sealed class Packer(SlabPool pool, PacketTemplate template, int packetBytes, RetentionBuffer packets)
{
    private readonly PacketTemplate _template = template;
    private Lease? _block;
    private int _used;
    private int _start;
    private int _length;
    private bool _open;

    public bool HasOpenPacket => _open;

    /// <summary>Packets up to this one lie in blocks that get no more: as a run they will not become longer.</summary>
    public long FullThrough { get; private set; }

    /// <summary>The blocks that senders may still take.</summary>
    public long FreeBlocks => pool.FreeToSend;

    private int PacketsInBlock => SlabPool.BlockBytes / packetBytes;

    /// <summary>How many blocks more a message of so many bytes may take, in whatever state the stream is.</summary>
    public static int MostBlocks(int payloadBytes, int packetBytes) =>
        2 + (WithStart(payloadBytes) / (SlabPool.BlockBytes / packetBytes * (packetBytes - PacketHeader.Bytes)));

    /// <summary>How many blocks more a message of so many bytes may take, in whatever state the stream is.</summary>
    public int MostBlocks(int payloadBytes) => MostBlocks(payloadBytes, packetBytes);

    /// <summary>
    /// The most that a message to so many regions may have, so that all of senders' memory together has room for it; below 0: for none.
    /// </summary>
    public long MostPayload(int regions)
    {
        long blocks = (pool.Shares.MostToSend - 1) / regions;
        return (blocks * PacketsInBlock * (packetBytes - PacketHeader.Bytes)) - WithStart(0);
    }

    /// <summary>How many it may take with what is left of the stream's own.</summary>
    public int BlocksFor(int payloadBytes)
    {
        // Not in the open packet: what is left of it may be too little for a header.
        int packets = Interval.Parts(WithStart(payloadBytes), packetBytes - PacketHeader.Bytes);
        int used = _block is null ? SlabPool.BlockBytes : _open ? _start + packetBytes : _used;
        int more = packets - ((SlabPool.BlockBytes - used) / packetBytes);
        return more <= 0 ? 0 : Interval.Parts(more, PacketsInBlock);
    }

    /// <summary>Packs one message and gives the number of the packet in which it ends. There are FreeBlocks for it.</summary>
    public long Append(ulong topicId, long sequence, StartTable? start, ReadOnlySpan<byte> extensions, ReadOnlySpan<byte> payload)
    {
        var marks = start is null ? MessageMarks.None : MessageMarks.Start;
        int needed = MessageHeader.Bytes + (start?.EncodedBytes ?? 0);
        if (!extensions.IsEmpty)
        {
            marks |= MessageMarks.Extended;
            needed += 1 + extensions.Length;
        }

        if (_open && packetBytes - _length < needed)
        {
            Close(pad: true);
        }

        if (!_open)
        {
            Open(headBytes: 0, headDistance: 0);
        }

        var packet = _block!.Span.Slice(_start, packetBytes);
        MessageHeader.Write(packet[_length..], payload.Length, marks, topicId, sequence);
        _length += MessageHeader.Bytes;
        if (start is not null)
        {
            start.Write(packet[_length..]);
            _length += start.EncodedBytes;
        }

        if (!extensions.IsEmpty)
        {
            packet[_length] = (byte)extensions.Length;
            extensions.CopyTo(packet[(_length + 1)..]);
            _length += 1 + extensions.Length;
        }

        if (payload.Length <= packetBytes - _length)
        {
            payload.CopyTo(packet[_length..]);
            _length += payload.Length;
            return packets.Next;
        }

        return Spread(payload);
    }

    /// <summary>The open packet, in which the last message ends, asks for an acknowledgement.</summary>
    public void WantAck() => PacketTemplate.AddFlags(_block!.Span.Slice(_start, packetBytes), PacketFlags.AckWanted);

    /// <summary>Closes the open packet, if there is one, as short as it is.</summary>
    public void Flush()
    {
        if (_open)
        {
            Close(pad: false);
        }
    }

    /// <summary>
    /// Nothing of this stream is on the way: its block goes back when packet memory is half in use, so that the streams of any
    /// number of regions that rest leave the other half to those that move, or when it is needed. A stream that moves again
    /// takes another block.
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

    // Over as many packets as it takes.
    private long Spread(ReadOnlySpan<byte> payload)
    {
        long first = packets.Next;
        while (true)
        {
            int taken = Math.Min(payload.Length, packetBytes - _length);
            payload[..taken].CopyTo(_block!.Span[(_start + _length)..]);
            _length += taken;
            payload = payload[taken..];
            if (payload.IsEmpty)
            {
                return packets.Next;
            }

            Close(pad: true);
            Open(Math.Min(payload.Length, packetBytes - PacketHeader.Bytes), packets.Next - first);
        }
    }

    private void Open(int headBytes, long headDistance)
    {
        if (_block is null || SlabPool.BlockBytes - _used < packetBytes)
        {
            _block?.Release();
            FullThrough = packets.Last;
            _block = pool.TryRentToSend() ?? throw new InvalidOperationException("Packet memory is gone although room was promised.");
            _used = 0;
        }

        _start = _used;
        _length = PacketHeader.Bytes;
        _open = true;
        _template.Write(_block.Span[_start..], PacketKind.Data, PacketFlags.None, packets.Next, headBytes, headDistance);
    }

    private void Close(bool pad)
    {
        var packet = _block!.Span.Slice(_start, packetBytes);
        if (pad)
        {
            packet[_length..].Clear();
            _length = packetBytes;
        }

        PacketTemplate.Seal(packet[.._length]);
        packets.Append(_block, _start, _length);
        _used = _start + _length;
        _open = false;
    }
}
