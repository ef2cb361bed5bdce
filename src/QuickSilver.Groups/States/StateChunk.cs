using System.Buffers.Binary;
using System.Diagnostics.CodeAnalysis;

namespace QuickSilver.Groups.States;

// The first byte of each chunk that a donor gives.
internal enum StateChunkKind : byte
{
    /// <summary>The state is not written yet.</summary>
    Wait = 0,

    /// <summary>The state begins: what was given before it is void.</summary>
    Begin = 1,

    /// <summary>Bytes of the state.</summary>
    Bytes = 2,

    /// <summary>The donor has no state.</summary>
    None = 3,

    /// <summary>The state is larger than the donor may give.</summary>
    TooLarge = 4,
}

// The bodies of what a member that waits for the state and a donor send to each other, little endian.
//
// The subject of a transfer: the topic (8 bytes) and the view in which the state must be at least (8).
// Begin: the kind (1), the view of the state (8), its size (8), and of each sender in this view its id (8), its incarnation (4), and the
// number of its last message that is in the state (8).
// None: the kind, and the view in which the donor has none (8). TooLarge: the kind, the size (8) and the limit (8). Bytes: the kind, and
// the bytes. Wait: the kind.
internal static class StateChunk
{
    public const int SubjectBytes = 16;
    /// <summary>The size of Wait, and what precedes the bytes of Bytes.</summary>
    public const int KindBytes = 1;
    public const int NoneBytes = 9;
    public const int TooLargeBytes = 17;
    private const int BeginBytes = 17;
    private const int SenderBytes = 20;

    public static byte[] Subject(ulong topic, long view)
    {
        byte[] subject = new byte[SubjectBytes];
        BinaryPrimitives.WriteUInt64LittleEndian(subject, topic);
        BinaryPrimitives.WriteInt64LittleEndian(subject.AsSpan(8), view);
        return subject;
    }

    public static bool TryReadSubject(ReadOnlySpan<byte> source, out ulong topic, out long view)
    {
        (topic, view) = (0, 0);
        if (source.Length != SubjectBytes)
        {
            return false;
        }

        topic = BinaryPrimitives.ReadUInt64LittleEndian(source);
        view = BinaryPrimitives.ReadInt64LittleEndian(source[8..]);
        return true;
    }

    public static StateChunkKind? KindOf(ReadOnlySpan<byte> chunk) =>
        chunk is [<= (byte)StateChunkKind.TooLarge and var kind, ..] ? (StateChunkKind)kind : null;

    public static int SizeOfBegin(StatePlace place) => BeginBytes + (place.Through.Count * SenderBytes);

    public static void WriteBegin(Span<byte> chunk, StatePlace place, long size)
    {
        WriteTwo(chunk, StateChunkKind.Begin, place.View, size);
        var rest = chunk[BeginBytes..];
        foreach (var (sender, number) in place.Through)
        {
            BinaryPrimitives.WriteUInt64LittleEndian(rest, sender.Id);
            BinaryPrimitives.WriteUInt32LittleEndian(rest[8..], sender.Incarnation);
            BinaryPrimitives.WriteInt64LittleEndian(rest[12..], number);
            rest = rest[SenderBytes..];
        }
    }

    public static bool TryReadBegin(ReadOnlySpan<byte> chunk, [NotNullWhen(true)] out StatePlace? place, out long size)
    {
        (place, size) = (null, 0);
        if (chunk.Length < BeginBytes || (chunk.Length - BeginBytes) % SenderBytes != 0)
        {
            return false;
        }

        size = BinaryPrimitives.ReadInt64LittleEndian(chunk[9..]);
        var read = StatePlace.At(BinaryPrimitives.ReadInt64LittleEndian(chunk[1..]));
        for (var rest = chunk[BeginBytes..]; rest.Length > 0; rest = rest[SenderBytes..])
        {
            var sender = new NodeId(BinaryPrimitives.ReadUInt64LittleEndian(rest), BinaryPrimitives.ReadUInt32LittleEndian(rest[8..]));
            read.Pass(sender, BinaryPrimitives.ReadInt64LittleEndian(rest[12..]));
        }

        place = read;
        return size >= 0 && read.View > 0;
    }

    public static void WriteNone(Span<byte> chunk, long view)
    {
        chunk[0] = (byte)StateChunkKind.None;
        BinaryPrimitives.WriteInt64LittleEndian(chunk[1..], view);
    }

    public static bool TryReadNone(ReadOnlySpan<byte> chunk, out long view)
    {
        view = chunk.Length == NoneBytes ? BinaryPrimitives.ReadInt64LittleEndian(chunk[1..]) : 0;
        return chunk.Length == NoneBytes;
    }

    public static void WriteTooLarge(Span<byte> chunk, long size, long limit) => WriteTwo(chunk, StateChunkKind.TooLarge, size, limit);

    public static bool TryReadTooLarge(ReadOnlySpan<byte> chunk, out long size, out long limit)
    {
        (size, limit) = (0, 0);
        if (chunk.Length != TooLargeBytes)
        {
            return false;
        }

        size = BinaryPrimitives.ReadInt64LittleEndian(chunk[1..]);
        limit = BinaryPrimitives.ReadInt64LittleEndian(chunk[9..]);
        return true;
    }

    private static void WriteTwo(Span<byte> chunk, StateChunkKind kind, long first, long second)
    {
        chunk[0] = (byte)kind;
        BinaryPrimitives.WriteInt64LittleEndian(chunk[1..], first);
        BinaryPrimitives.WriteInt64LittleEndian(chunk[9..], second);
    }
}
