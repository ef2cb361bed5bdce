using QuickSilver.Core.Buffers;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Sending.Packing;

namespace QuickSilver.Multicast.Hybrid;

// Packs the messages of one topic into shared packets, which form one run in one block of packet memory. Each packet has room for a list
// behind its messages. The numbers in the list are written when the run is sent.
//
// Invariants: a run begins and ends with a message, so the packets of a message get adjacent numbers in every stream. All packets before
// the open one are full.
internal sealed class SharedPacker(SlabPool pool, PacketTemplate template, int packetBytes, int entries, int packetsInRun)
{
    // What a message takes besides its payload, at most.
    private const int Overhead = MessageHeader.Bytes + 1 + MessageExtensions.MostBytes;

    private readonly PacketTemplate _template = template;
    private readonly List<SharedSlot> _closed = [];
    // Not readonly: it is a struct that has state of its own.
    private PacketBlock _block;
    private bool _isRunClosed;

    /// <summary>How many entries the list of each packet has.</summary>
    public int Entries => entries;

    public bool IsEmpty => _closed.Count == 0 && !_block.IsOpen;

    public int Count => _closed.Count + (_block.IsOpen ? 1 : 0);

    /// <summary>The packets of the run, once it is closed.</summary>
    public List<SharedSlot> Run => _closed;

    public Lease Block => _block.Lease;

    /// <summary>The size of a full packet, with its list.</summary>
    public int PacketBytes => packetBytes;

    // The size of a full packet without its list.
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
        if (IsEmpty && (!_block.IsRented || !Fits(payload.Length + Overhead)))
        {
            _block.Rent(pool);
        }

        if (_block.IsOpen && DataBytes - _block.Length < PacketBlock.BytesBefore(start: null, extensions))
        {
            Close(pad: true);
        }

        if (!_block.IsOpen)
        {
            Open(headBytes: 0, headDistance: 0);
        }

        Spread(_block.Write(DataBytes, topicId, sequence, start: null, extensions, payload));
    }

    /// <summary>Closes the open packet. Nothing is packed until the run is sent.</summary>
    public void CloseRun()
    {
        _isRunClosed = true;
        if (_block.IsOpen)
        {
            Close(pad: false);
        }
    }

    /// <summary>The bytes of one packet of the run, with its list.</summary>
    public Span<byte> PacketAt(int index) =>
        _block.Lease.Span.Slice(_closed[index].Offset, _closed[index].Length + SharedPacket.ListBytes(entries));

    /// <summary>The bytes of adjacent packets of the run.</summary>
    public ReadOnlySpan<byte> Packets(int first, int count)
    {
        int begin = _closed[first].Offset;
        var last = _closed[first + count - 1];
        return _block.Lease.Span[begin..(last.Offset + last.Length + SharedPacket.ListBytes(entries))];
    }

    /// <summary>The run was given to its streams. The next one begins.</summary>
    public void BeginRun()
    {
        _closed.Clear();
        _isRunClosed = false;
        if (pool.IsHalfUsed || SlabPool.BlockBytes - _block.Used < packetBytes)
        {
            _block.Release();
        }
    }

    /// <summary>Returns the block if no message is in it that was not sent.</summary>
    public void Rest()
    {
        if (IsEmpty)
        {
            _block.Release();
        }
    }

    // The rest of the open packet counts only if it has room for the whole message, because it may be too small for a header.
    private bool Fits(int bytes)
    {
        if (_block.IsOpen && bytes <= DataBytes - _block.Length)
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
            int left = (SlabPool.BlockBytes - _block.UsedWith(packetBytes)) / packetBytes;
            return Math.Min(left, packetsInRun - Count) * (DataBytes - PacketHeader.Bytes);
        }
    }

    private void Spread(ReadOnlySpan<byte> rest)
    {
        int first = _closed.Count;
        while (!rest.IsEmpty)
        {
            Close(pad: true);
            Open(Math.Min(rest.Length, DataBytes - PacketHeader.Bytes), _closed.Count - first);
            rest = _block.Write(DataBytes, rest);
        }
    }

    private void Open(int headBytes, long headDistance) =>
        _template.Write(_block.Open(), PacketKind.Shared, PacketFlags.None, 0, headBytes, headDistance);

    private void Close(bool pad)
    {
        if (pad)
        {
            _block.Pad(DataBytes);
        }

        _closed.Add(new SharedSlot(_block.Start, _block.Length));
        _block.Close(SharedPacket.ListBytes(entries));
    }
}

// Where a shared packet lies in its block. The length is without the list.
internal readonly record struct SharedSlot(int Offset, int Length);
