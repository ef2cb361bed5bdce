using System.Buffers;
using System.Buffers.Binary;

namespace QuickSilver.Groups.Tools.Replicas;

// Writes the fields of an operation or of a state, little endian, into bytes that have room for them.
internal ref struct SpanWriter(Span<byte> destination)
{
    private Span<byte> _rest = destination;

    public const int NodeBytes = 12;

    public void Write(byte value)
    {
        _rest[0] = value;
        _rest = _rest[1..];
    }

    public void Write(int value)
    {
        BinaryPrimitives.WriteInt32LittleEndian(_rest, value);
        _rest = _rest[sizeof(int)..];
    }

    public void Write(long value)
    {
        BinaryPrimitives.WriteInt64LittleEndian(_rest, value);
        _rest = _rest[sizeof(long)..];
    }

    public void Write(NodeId node)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(_rest, node.Id);
        BinaryPrimitives.WriteUInt32LittleEndian(_rest[8..], node.Incarnation);
        _rest = _rest[NodeBytes..];
    }

    /// <summary>Writes the number of bytes, and the bytes.</summary>
    public void WriteSized(ReadOnlySpan<byte> bytes)
    {
        Write(bytes.Length);
        bytes.CopyTo(_rest);
        _rest = _rest[bytes.Length..];
    }

    /// <summary>Writes the number of bytes, and gives these to be filled.</summary>
    public Span<byte> WriteSized(int bytes)
    {
        Write(bytes);
        var room = _rest[..bytes];
        _rest = _rest[bytes..];
        return room;
    }
}

internal static class StateWriter
{
    public static void Write(this IBufferWriter<byte> to, int value)
    {
        new SpanWriter(to.GetSpan(sizeof(int))).Write(value);
        to.Advance(sizeof(int));
    }

    public static void Write(this IBufferWriter<byte> to, long value)
    {
        new SpanWriter(to.GetSpan(sizeof(long))).Write(value);
        to.Advance(sizeof(long));
    }

    public static void Write(this IBufferWriter<byte> to, NodeId node)
    {
        new SpanWriter(to.GetSpan(SpanWriter.NodeBytes)).Write(node);
        to.Advance(SpanWriter.NodeBytes);
    }

    /// <summary>Writes the number of bytes, and the bytes.</summary>
    public static void WriteSized(this IBufferWriter<byte> to, ReadOnlySpan<byte> bytes)
    {
        to.Write(bytes.Length);
        to.Write(bytes);
    }
}
