using System.Buffers.Binary;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;

namespace QuickSilver.Receipts.Protocol;

// A receipt on disk: u64 node and u32 incarnation of the publisher, the same of the member, i64 number of the last message that was taken,
// u32 checksum of these. It names the publisher, because each life of a node numbers its messages from 1. All are of one length, so that
// those behind a torn or rotten one are found. The checksum of zeros is not zero: zeros are no receipt.
internal readonly record struct KeptReceipt(NodeKey Publisher, NodeKey Member, long Through)
{
    public const int Bytes = SumAt + sizeof(uint);

    private const int KeyBytes = sizeof(ulong) + sizeof(uint);
    private const int ThroughAt = KeyBytes + KeyBytes;
    private const int SumAt = ThroughAt + sizeof(long);

    public static bool TryRead(ReadOnlySpan<byte> bytes, out KeptReceipt read)
    {
        read = default;
        if (bytes.Length < Bytes || BinaryPrimitives.ReadUInt32LittleEndian(bytes[SumAt..]) != SumOf(bytes))
        {
            return false;
        }

        read = new KeptReceipt(
            ReadKey(bytes), ReadKey(bytes[KeyBytes..]), BinaryPrimitives.ReadInt64LittleEndian(bytes[ThroughAt..]));
        return true;
    }

    public void Write(Span<byte> bytes)
    {
        WriteKey(bytes, Publisher);
        WriteKey(bytes[KeyBytes..], Member);
        BinaryPrimitives.WriteInt64LittleEndian(bytes[ThroughAt..], Through);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes[SumAt..], SumOf(bytes));
    }

    private static NodeKey ReadKey(ReadOnlySpan<byte> bytes) =>
        new(BinaryPrimitives.ReadUInt64LittleEndian(bytes), BinaryPrimitives.ReadUInt32LittleEndian(bytes[sizeof(ulong)..]));

    private static void WriteKey(Span<byte> bytes, NodeKey key)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, key.Id);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes[sizeof(ulong)..], key.Incarnation);
    }

    private static uint SumOf(ReadOnlySpan<byte> bytes) => ~Crc32C.Append(uint.MaxValue, bytes[..SumAt]);
}
