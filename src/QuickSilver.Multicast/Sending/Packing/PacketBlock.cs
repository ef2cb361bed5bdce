using QuickSilver.Core.Buffers;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Sending.Packing;

// A block of packet memory that is filled with packets, back to back, and the packet that is open in it. Its owner decides when a packet is
// opened and closed, what its header says, and what follows its messages.
//
//   Rent -> Open -> Write … -> Close -> Open … -> Release
//
// Invariant: an open packet is at [Start, Start + Length) of the block, and everything before Used is in packets that are closed.
internal struct PacketBlock
{
    private Lease? _lease;

    /// <summary>Whether there is a block.</summary>
    public readonly bool IsRented => _lease is not null;

    public readonly bool IsOpen => Length > 0;

    public readonly Lease Lease => _lease!;

    /// <summary>What is taken of the block by packets that are closed, with what follows them.</summary>
    public int Used { get; private set; }

    public int Start { get; private set; }

    /// <summary>The length of the open packet; 0: there is none.</summary>
    public int Length { get; private set; }

    /// <summary>What precedes the payload of a message.</summary>
    public static int BytesBefore(StartTable? start, ReadOnlySpan<byte> extensions) =>
        MessageHeader.Bytes + (start?.EncodedBytes ?? 0) + (extensions.IsEmpty ? 0 : 1 + extensions.Length);

    /// <summary>What is taken of the block if the open packet becomes so long.</summary>
    public readonly int UsedWith(int packetBytes) => IsOpen ? Start + packetBytes : Used;

    /// <summary>Continues in a new block. The caller has checked that there is one.</summary>
    public void Rent(SlabPool pool)
    {
        Release();
        _lease = pool.TryRentToSend() ?? throw new InvalidOperationException("No packet memory, although it was checked before.");
    }

    /// <summary>Returns the block. Its packets stay valid for those that have a claim to it.</summary>
    public void Release()
    {
        _lease?.Release();
        _lease = null;
        Used = Start = Length = 0;
    }

    /// <summary>Opens a packet behind the last one, and returns its place for its header.</summary>
    public Span<byte> Open()
    {
        Start = Used;
        Length = PacketHeader.Bytes;
        return _lease!.Span[Start..];
    }

    /// <summary>The open packet, with the rest of its place.</summary>
    public readonly Span<byte> Packet(int packetBytes) => _lease!.Span.Slice(Start, packetBytes);

    /// <summary>
    /// Writes one message into the open packet, which has room for what precedes the payload. Returns the rest of the payload, for which it
    /// has no room.
    /// </summary>
    public ReadOnlySpan<byte> Write(
        int packetBytes, ulong topicId, long sequence, StartTable? start, ReadOnlySpan<byte> extensions, ReadOnlySpan<byte> payload)
    {
        var packet = Packet(packetBytes);
        int at = Length;
        var marks = extensions.IsEmpty ? MessageMarks.None : MessageMarks.Extended;
        marks |= start is null ? MessageMarks.None : MessageMarks.Start;
        MessageHeader.Write(packet[at..], payload.Length, marks, topicId, sequence);
        at += MessageHeader.Bytes;
        if (start is not null)
        {
            start.Write(packet[at..]);
            at += start.EncodedBytes;
        }

        at += MessageExtensions.Write(packet[at..], extensions);
        if (payload.Length > packetBytes - at)
        {
            Length = at;
            return Write(packetBytes, payload);
        }

        payload.CopyTo(packet[at..]);
        Length = at + payload.Length;
        return default;
    }

    /// <summary>Writes as much of a payload as the open packet has room for. Returns the rest.</summary>
    public ReadOnlySpan<byte> Write(int packetBytes, ReadOnlySpan<byte> payload)
    {
        int taken = Math.Min(payload.Length, packetBytes - Length);
        payload[..taken].CopyTo(_lease!.Span[(Start + Length)..]);
        Length += taken;
        return payload[taken..];
    }

    /// <summary>Fills the rest of the open packet with zeros, which no message begins with.</summary>
    public void Pad(int packetBytes)
    {
        Packet(packetBytes)[Length..].Clear();
        Length = packetBytes;
    }

    /// <summary>Closes the open packet.</summary>
    /// <param name="behind">The bytes behind it that belong to it.</param>
    public void Close(int behind)
    {
        Used = Start + Length + behind;
        Length = 0;
    }
}
