using System.Buffers.Binary;

namespace QuickSilver.Groups.Questions;

// What a question has before the application's message, little endian: its number at the asking node (8 bytes), and the rank of the only
// member that is to answer (2); 65,535: all are.
internal readonly record struct QuestionHead(long Id, ushort Rank)
{
    public const int Bytes = 8 + 2;
    public const ushort AllRanks = ushort.MaxValue;

    public bool IsForAll => Rank == AllRanks;

    public void Write(Span<byte> destination)
    {
        BinaryPrimitives.WriteInt64LittleEndian(destination, Id);
        BinaryPrimitives.WriteUInt16LittleEndian(destination[8..], Rank);
    }

    /// <summary>Reads what another node sent. False: it is too short.</summary>
    public static bool TryRead(ReadOnlySpan<byte> source, out QuestionHead head)
    {
        bool isWhole = source.Length >= Bytes;
        head = isWhole
            ? new QuestionHead(BinaryPrimitives.ReadInt64LittleEndian(source), BinaryPrimitives.ReadUInt16LittleEndian(source[8..]))
            : default;
        return isWhole;
    }
}
