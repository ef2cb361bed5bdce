using System.Buffers.Binary;

namespace QuickSilver.Receipts.Protocol;

// A letter: u64 topic, i64 number of the last message that was taken. The body of the packet that asks for one: u64 topic.
internal readonly record struct ReceiptLetter(ulong Topic, long Through)
{
    public const int Bytes = sizeof(ulong) + sizeof(long);
    public const int QuestionBytes = sizeof(ulong);

    public static bool TryRead(ReadOnlySpan<byte> letter, out ReceiptLetter read)
    {
        read = default;
        if (letter.Length < Bytes)
        {
            return false;
        }

        read = new ReceiptLetter(
            BinaryPrimitives.ReadUInt64LittleEndian(letter), BinaryPrimitives.ReadInt64LittleEndian(letter[sizeof(ulong)..]));
        return true;
    }

    public void Write(Span<byte> letter)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(letter, Topic);
        BinaryPrimitives.WriteInt64LittleEndian(letter[sizeof(ulong)..], Through);
    }
}
