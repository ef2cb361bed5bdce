using System.Buffers.Binary;

namespace QuickSilver.Processes.Tests.Lab.Network;

// A view of one frame as a TAP carries it: a virtio header (its numbers in the machine's order), Ethernet, IPv4, UDP
// (theirs in the network's order). A frame without UDP over IPv4 has PayloadOffset zero.
internal readonly ref struct Frame
{
    public const int VirtioBytes = 10;
    public const int EthernetBytes = 14;
    public const int Smallest = VirtioBytes + EthernetBytes;
    private const int IpOffset = VirtioBytes + EthernetBytes;
    private const int UdpBytes = 8;
    private const byte NeedsChecksum = 1;
    private const byte UdpRun = 5;

    public Frame(Span<byte> bytes)
    {
        Bytes = bytes;
        if (bytes.Length < IpOffset + 20 + UdpBytes || Read(VirtioBytes + 12) != 0x0800 || bytes[IpOffset + 9] != 17)
        {
            return;
        }

        IpBytes = (bytes[IpOffset] & 15) * 4;
        const int LaterFragment = 0x1fff;
        if ((Read(IpOffset + 6) & LaterFragment) == 0 && bytes.Length >= IpOffset + IpBytes + UdpBytes)
        {
            PayloadOffset = IpOffset + IpBytes + UdpBytes;
        }
    }

    public Span<byte> Bytes { get; }

    public int PayloadOffset { get; }

    public bool IsUdp => PayloadOffset > 0;

    public Span<byte> Payload => Bytes[PayloadOffset..];

    public byte LastByteOfDestination => Bytes[VirtioBytes + 5];

    /// <summary>To more than one: broadcast or multicast.</summary>
    public bool IsForMany => (Bytes[VirtioBytes] & 1) != 0;

    public bool IsIpMulticast =>
        (Bytes[VirtioBytes] == 1 && Bytes[VirtioBytes + 1] == 0 && Bytes[VirtioBytes + 2] == 0x5e)
        || (Bytes[VirtioBytes] == 0x33 && Bytes[VirtioBytes + 1] == 0x33);

    /// <summary>The size of each datagram of a run, or zero for a frame that is alone.</summary>
    public int SegmentBytes => Bytes[1] == 0 ? 0 : BitConverter.ToUInt16(Bytes[4..]);

    public bool IsUdpRun => Bytes[1] == UdpRun && IsUdp && SegmentBytes > 0;

    /// <summary>With the header of IP.</summary>
    public int PacketBytes => Bytes.Length - Smallest;

    public uint SourceAddress => BinaryPrimitives.ReadUInt32BigEndian(Bytes[(IpOffset + 12)..]);

    public int SourcePort => Read(IpOffset + IpBytes);

    public uint DestinationAddress => BinaryPrimitives.ReadUInt32BigEndian(Bytes[(IpOffset + 16)..]);

    public int DestinationPort => Read(IpOffset + IpBytes + 2);

    /// <summary>
    /// May be part of a run: whole, without options, fragments or padding, its checksum left to the receiver's kernel.
    /// </summary>
    public bool CanJoinRun =>
        IsUdp && SegmentBytes == 0 && (Bytes[0] & NeedsChecksum) != 0 && IpBytes == 20 && Payload.Length > 0
        && (Read(IpOffset + 6) & 0x3fff) == 0
        && Read(IpOffset + 2) == Bytes.Length - IpOffset
        && Read(IpOffset + IpBytes + 4) == Bytes.Length - IpOffset - IpBytes;

    private int IpBytes { get; }

    /// <summary>Same sender, receiver, ports and service: equal but for lengths, identification and checksums.</summary>
    public bool HasFlowOf(Frame other) =>
        PayloadOffset == other.PayloadOffset
        && Bytes.Slice(VirtioBytes, 16).SequenceEqual(other.Bytes.Slice(VirtioBytes, 16))
        && Bytes.Slice(IpOffset + 6, 4).SequenceEqual(other.Bytes.Slice(IpOffset + 6, 4))
        && Bytes.Slice(IpOffset + 12, 12).SequenceEqual(other.Bytes.Slice(IpOffset + 12, 12));

    /// <summary>
    /// Cuts segment <paramref name="index"/> out of a run into <paramref name="target"/>; returns the frame's length.
    /// </summary>
    public int CutSegment(int index, Span<byte> target)
    {
        var from = index * SegmentBytes;
        var payload = Payload.Slice(from, Math.Min(SegmentBytes, Payload.Length - from));
        Bytes[..PayloadOffset].CopyTo(target);
        payload.CopyTo(target[PayloadOffset..]);
        var frame = new Frame(target[..(PayloadOffset + payload.Length)]);
        frame.MarkAlone();
        frame.Write(IpOffset + 4, (ushort)(frame.Read(IpOffset + 4) + index));
        frame.SetLengths();
        return frame.Bytes.Length;
    }

    /// <summary>The payload has changed: where the sender has computed the checksum of UDP, none is given, as IPv4 allows.</summary>
    public void ForgoChecksum()
    {
        if ((Bytes[0] & NeedsChecksum) == 0)
        {
            Write(IpOffset + IpBytes + 6, 0);
        }
    }

    /// <summary>Makes this frame, whose payload is that of several, one run.</summary>
    public void MarkRun(int segmentBytes)
    {
        Bytes[1] = UdpRun;
        BitConverter.TryWriteBytes(Bytes[2..], (ushort)(PayloadOffset - VirtioBytes));
        BitConverter.TryWriteBytes(Bytes[4..], (ushort)segmentBytes);
        SetLengths();
    }

    private void MarkAlone()
    {
        Bytes[1] = 0;
        Bytes[2..6].Clear();
    }

    // Lengths and the IP checksum. The UDP checksum stays what the virtio header calls it, a partial one: the sum of the
    // pseudo header only, which the receiving kernel completes or takes on trust.
    private void SetLengths()
    {
        var ipLength = Bytes.Length - IpOffset;
        var udpLength = ipLength - IpBytes;
        Write(IpOffset + 2, (ushort)ipLength);
        Write(IpOffset + 10, 0);
        Write(IpOffset + 10, (ushort)~Sum(Bytes.Slice(IpOffset, IpBytes), 0));
        Write(IpOffset + IpBytes + 4, (ushort)udpLength);
        Write(IpOffset + IpBytes + 6, Sum(Bytes.Slice(IpOffset + 12, 8), (uint)(17 + udpLength)));
    }

    private static ushort Sum(ReadOnlySpan<byte> bytes, uint sum)
    {
        for (var i = 0; i < bytes.Length; i += 2)
        {
            sum += BinaryPrimitives.ReadUInt16BigEndian(bytes[i..]);
        }

        while (sum >> 16 != 0)
        {
            sum = (sum & 0xffff) + (sum >> 16);
        }

        return (ushort)sum;
    }

    private ushort Read(int offset) => BinaryPrimitives.ReadUInt16BigEndian(Bytes[offset..]);

    private void Write(int offset, ushort value) => BinaryPrimitives.WriteUInt16BigEndian(Bytes[offset..], value);
}
