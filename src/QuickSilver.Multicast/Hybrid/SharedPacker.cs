using QuickSilver.Core.Buffers;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Hybrid;

// Packs the messages of one topic into shared packets, which form one run in one block of packet memory. Each packet has room for a list
// behind its messages. The numbers in the list are written when the run is sent.
//
// Invariants: a run begins and ends with a message, so the packets of a message get adjacent numbers in every stream. An open packet is at
// [_start, _start + _length) of _block, and all packets before it are full.
internal sealed class SharedPacker(SlabPool pool, PacketTemplate template, int packetBytes, int entries, int packetsInRun)
{
    // What a message takes besides its payload, at most.
    private const int Overhead = MessageHeader.Bytes + 1 + MessageExtensions.MostBytes;

    private readonly PacketTemplate _template = template;
    private readonly List<SharedSlot> _closed = [];
    private Lease? _block;
    private int _used;
    private int _start;
    private int _length;
    private bool _open;
    private bool _isRunClosed;

    /// <summary>How many entries the list of each packet has.</summary>
    public int Entries => entries;

    public bool IsEmpty => _closed.Count == 0 && !_open;

    public int Count => _closed.Count + (_open ? 1 : 0);

    /// <summary>The packets of the run, once it is closed.</summary>
    public List<SharedSlot> Run => _closed;

    public Lease Block => _block!;

    // The bytes of a packet without its list.
    /// <summary>The size of a full packet, with its list.</summary>
    public int PacketBytes => packetBytes;

    private int DataBytes => packetBytes - SharedPacket.ListBytes(entries);

    /// <summary>The largest payload of a message that fits into a run.</summary>
    public int MostPayload => (packetsInRun * (DataBytes - PacketHeader.Bytes)) - Overhead;

    /// <summary>About how many bytes of messages fit into the run.</summary>
    public int RoomBytes => IsEmpty ? MostPayload : _isRunClosed ? 0 : RoomAfterOpen;

    /// <summary>Whether the run has room for the message. A run without messages has room for any that fits into a run.</summary>
    public bool HasRoomFor(int payloadBytes) => IsEmpty || (!_isRunClosed && Fits(payloadBytes + Overhead));

    /// <summary>Packs one message. The caller has checked that there is room, and a free block.</summary>
    public void Append(ulong topicId, long sequence, ReadOnlySpan<byte> extensions, ReadOnlySpan<byte> payload)
    {
        if (IsEmpty && (_block is null || !Fits(payload.Length + Overhead)))
        {
            Release();
            _block = pool.TryRentToSend() ?? throw new InvalidOperationException("No packet memory, although it was checked before.");
        }

        int needed = MessageHeader.Bytes + (extensions.IsEmpty ? 0 : 1 + extensions.Length);
        if (_open && DataBytes - _length < needed)
        {
            Close(pad: true);
        }

        if (!_open)
        {
            Open(headBytes: 0, headDistance: 0);
        }

        var packet = _block!.Span.Slice(_start, DataBytes);
        var marks = extensions.IsEmpty ? MessageMarks.None : MessageMarks.Extended;
        MessageHeader.Write(packet[_length..], payload.Length, marks, topicId, sequence);
        _length += MessageHeader.Bytes;
        _length += MessageExtensions.Write(packet[_length..], extensions);
        Spread(payload);
    }

    /// <summary>Closes the open packet. Nothing is packed until the run is sent.</summary>
    public void CloseRun()
    {
        _isRunClosed = true;
        if (_open)
        {
            Close(pad: false);
        }
    }

    /// <summary>The bytes of one packet of the run, with its list.</summary>
    public Span<byte> PacketAt(int index) =>
        _block!.Span.Slice(_closed[index].Offset, _closed[index].Length + SharedPacket.ListBytes(entries));

    /// <summary>The bytes of adjacent packets of the run.</summary>
    public ReadOnlySpan<byte> Packets(int first, int count)
    {
        int begin = _closed[first].Offset;
        var last = _closed[first + count - 1];
        return _block!.Span[begin..(last.Offset + last.Length + SharedPacket.ListBytes(entries))];
    }

    /// <summary>The run was given to its streams. The next one begins.</summary>
    public void BeginRun()
    {
        _closed.Clear();
        _isRunClosed = false;
        if (pool.IsHalfUsed || SlabPool.BlockBytes - _used < packetBytes)
        {
            Release();
        }
    }

    /// <summary>Returns the block if no message is in it that was not sent.</summary>
    public void Rest()
    {
        if (IsEmpty)
        {
            Release();
        }
    }

    private void Release()
    {
        _block?.Release();
        _block = null;
        _used = 0;
    }

    // The rest of the open packet counts only if it has room for the whole message, because it may be too small for a header.
    private bool Fits(int bytes)
    {
        if (_open && bytes <= DataBytes - _length)
        {
            return true;
        }

        return bytes <= RoomAfterOpen;
    }

    // The bytes of the packets that the run may get besides the open one.
    private int RoomAfterOpen
    {
        get
        {
            int used = _open ? _start + packetBytes : _used;
            return Math.Min((SlabPool.BlockBytes - used) / packetBytes, packetsInRun - Count) * (DataBytes - PacketHeader.Bytes);
        }
    }

    private void Spread(ReadOnlySpan<byte> payload)
    {
        int first = _closed.Count;
        while (true)
        {
            int taken = Math.Min(payload.Length, DataBytes - _length);
            payload[..taken].CopyTo(_block!.Span[(_start + _length)..]);
            _length += taken;
            payload = payload[taken..];
            if (payload.IsEmpty)
            {
                return;
            }

            Close(pad: true);
            Open(Math.Min(payload.Length, DataBytes - PacketHeader.Bytes), _closed.Count - first);
        }
    }

    private void Open(int headBytes, long headDistance)
    {
        _start = _used;
        _length = PacketHeader.Bytes;
        _open = true;
        _template.Write(_block!.Span[_start..], PacketKind.Shared, PacketFlags.None, 0, headBytes, headDistance);
    }

    private void Close(bool pad)
    {
        if (pad)
        {
            _block!.Span[(_start + _length)..(_start + DataBytes)].Clear();
            _length = DataBytes;
        }

        _closed.Add(new SharedSlot(_start, _length));
        _used = _start + _length + SharedPacket.ListBytes(entries);
        _open = false;
    }
}

// Where a shared packet lies in its block. The length is without the list.
internal readonly record struct SharedSlot(int Offset, int Length);
