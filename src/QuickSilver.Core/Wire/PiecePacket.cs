using System.Buffers.Binary;

namespace QuickSilver.Core.Wire;

// A piece of a data packet that is larger than a path carries: the packet was made before the path was known to be so narrow, and it is
// sent again unchanged, so that its number and its checksum stay. The header's sequence is the number of the packet that was cut, counted
// by the node that cuts; all its pieces have it. The body is u16 bytes of the packet, u16 bytes of each piece but the last, u16 which piece
// from 0, u16 0, and the bytes.
internal readonly ref struct PiecePacket
{
    public const int HeadBytes = PacketHeader.Bytes + BodyHeadBytes;
    /// <summary>Of the largest packet in the smallest pieces.</summary>
    public const int MostPieces = 256;
    private const int BodyHeadBytes = 8;

    private PiecePacket(ReadOnlySpan<byte> body)
    {
        WholeBytes = BinaryPrimitives.ReadUInt16LittleEndian(body);
        Stride = BinaryPrimitives.ReadUInt16LittleEndian(body[2..]);
        Index = BinaryPrimitives.ReadUInt16LittleEndian(body[4..]);
        Content = body[BodyHeadBytes..];
    }

    public int WholeBytes { get; }

    public int Stride { get; }

    public int Index { get; }

    public ReadOnlySpan<byte> Content { get; }

    public int Count => CountOf(WholeBytes, Stride);

    public static int CountOf(int wholeBytes, int stride) => (wholeBytes + stride - 1) / stride;

    /// <summary>False if it is no piece of a packet.</summary>
    public static bool TryRead(ReadOnlySpan<byte> body, out PiecePacket piece)
    {
        piece = default;
        if (body.Length <= BodyHeadBytes)
        {
            return false;
        }

        piece = new PiecePacket(body);
        return piece.Stride > 0
            && piece.WholeBytes >= PacketHeader.Bytes
            && piece.Count is > 1 and <= MostPieces
            && piece.Index < piece.Count
            && piece.Content.Length == Math.Min(piece.Stride, piece.WholeBytes - (piece.Index * piece.Stride));
    }

    /// <summary>Writes one piece; its length. The target has room for the head and the stride.</summary>
    public static int Write(
        Span<byte> target, in PacketTemplate template, long number, ReadOnlySpan<byte> whole, int stride, int index)
    {
        var content = whole[(index * stride)..Math.Min(whole.Length, (index + 1) * stride)];
        var packet = target[..(HeadBytes + content.Length)];
        packet[..HeadBytes].Clear();
        template.Write(packet, PacketKind.Piece, PacketFlags.Repair, number, 0, 0);
        var body = packet[PacketHeader.Bytes..];
        BinaryPrimitives.WriteUInt16LittleEndian(body, (ushort)whole.Length);
        BinaryPrimitives.WriteUInt16LittleEndian(body[2..], (ushort)stride);
        BinaryPrimitives.WriteUInt16LittleEndian(body[4..], (ushort)index);
        content.CopyTo(body[BodyHeadBytes..]);
        PacketTemplate.Seal(packet);
        return packet.Length;
    }
}
