using System.Buffers.Binary;

namespace QuickSilver.Groups.Tools.Replicas;

// Reads what SpanWriter has written. The bytes are of another node, so nothing is assumed of them: what is missing is read as zero, and
// makes the whole malformed. So a caller reads all fields and then asks once whether it may use them.
internal ref struct FieldReader(ReadOnlySpan<byte> source)
{
    private ReadOnlySpan<byte> _rest = source;

    /// <summary>Whether a field was missing, or has a value that it cannot have.</summary>
    public bool IsMalformed { get; private set; }

    /// <summary>Whether all fields were there, and nothing is left.</summary>
    public readonly bool IsComplete => !IsMalformed && _rest.IsEmpty;

    public byte ReadByte() => Take(1) is [var value] ? value : (byte)0;

    public int ReadInt32() => Take(sizeof(int)) is { IsEmpty: false } bytes ? BinaryPrimitives.ReadInt32LittleEndian(bytes) : 0;

    public long ReadInt64() => Take(sizeof(long)) is { IsEmpty: false } bytes ? BinaryPrimitives.ReadInt64LittleEndian(bytes) : 0;

    /// <summary>A number that is not negative.</summary>
    public long ReadNumber() => Checked(ReadInt64());

    public NodeId ReadNode() => Take(SpanWriter.NodeBytes) is { IsEmpty: false } bytes
        ? new NodeId(BinaryPrimitives.ReadUInt64LittleEndian(bytes), BinaryPrimitives.ReadUInt32LittleEndian(bytes[8..]))
        : default;

    /// <summary>How many elements follow, each of so many bytes at least. More than there can be are malformed.</summary>
    public int ReadCount(int leastBytes)
    {
        int count = ReadInt32();
        if (count < 0 || count > _rest.Length / leastBytes)
        {
            Fail();
            return 0;
        }

        return count;
    }

    /// <summary>The number of bytes, and the bytes.</summary>
    public ReadOnlySpan<byte> ReadSized() => Take(ReadCount(leastBytes: 1));

    /// <summary>A field has a value that it cannot have.</summary>
    public void Fail()
    {
        IsMalformed = true;
        _rest = default;
    }

    private long Checked(long value)
    {
        if (value < 0)
        {
            Fail();
            return 0;
        }

        return value;
    }

    private ReadOnlySpan<byte> Take(int bytes)
    {
        if (_rest.Length < bytes)
        {
            Fail();
            return default;
        }

        var taken = _rest[..bytes];
        _rest = _rest[bytes..];
        return taken;
    }
}
