using System.Buffers.Binary;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;

namespace QuickSilver.Receipts.Protocol;

// A receipt on disk: u64 node, u32 incarnation, i64 number of the last message that was taken, u32 checksum of these. All are of one
// length, so that those behind a torn or rotten one are found. The checksum of zeros is not zero: zeros are no receipt.
internal readonly record struct KeptReceipt(NodeKey Member, long Through)
{
    public const int Bytes = SumAt + sizeof(uint);

    private const int IncarnationAt = sizeof(ulong);
    private const int ThroughAt = IncarnationAt + sizeof(uint);
    private const int SumAt = ThroughAt + sizeof(long);

    public static bool TryRead(ReadOnlySpan<byte> bytes, out KeptReceipt read)
    {
        read = default;
        if (bytes.Length < Bytes || BinaryPrimitives.ReadUInt32LittleEndian(bytes[SumAt..]) != SumOf(bytes))
        {
            return false;
        }

        read = new KeptReceipt(
            new NodeKey(BinaryPrimitives.ReadUInt64LittleEndian(bytes), BinaryPrimitives.ReadUInt32LittleEndian(bytes[IncarnationAt..])),
            BinaryPrimitives.ReadInt64LittleEndian(bytes[ThroughAt..]));
        return true;
    }

    public void Write(Span<byte> bytes)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, Member.Id);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes[IncarnationAt..], Member.Incarnation);
        BinaryPrimitives.WriteInt64LittleEndian(bytes[ThroughAt..], Through);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes[SumAt..], SumOf(bytes));
    }

    private static uint SumOf(ReadOnlySpan<byte> bytes) => ~Crc32C.Append(uint.MaxValue, bytes[..SumAt]);
}
