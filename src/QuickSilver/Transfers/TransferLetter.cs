using System.Buffers.Binary;
using QuickSilver.Multicast.Protocols.Transfers;

namespace QuickSilver.Transfers;

internal enum TransferLetterKind : byte
{
    /// <summary>To a donor: gives what the body names.</summary>
    Pull = 0,

    /// <summary>To a donor: so many bytes were taken.</summary>
    Taken = 1,

    /// <summary>To a donor: nothing more is taken.</summary>
    Stop = 2,

    /// <summary>To a taker: a chunk.</summary>
    Chunk = 3,

    /// <summary>To a taker: that was all.</summary>
    End = 4,

    /// <summary>To a taker: nothing is given.</summary>
    Declined = 5,
}

// A letter of a transfer, little endian: the kind (1 byte), the number that the taker has given the transfer with this donor (8), the
// number of chunks before (4), a value (8) and a body. The value is the position from which to give (pull), the bytes that were taken so
// far (taken), the position behind the chunk (chunk), or the reason (declined). The body is the subject (pull) or the chunk.
internal readonly ref struct TransferLetter
{
    public const int HeaderBytes = 1 + 8 + 4 + 8;

    public TransferLetterKind Kind { get; init; }

    public long Number { get; init; }

    /// <summary>Of a chunk and of the end: the chunks that were given before, so that none is missed.</summary>
    public int Chunks { get; init; }

    public long Value { get; init; }

    public ReadOnlySpan<byte> Body { get; init; }

    /// <summary>Reads a letter, which is not trusted.</summary>
    public static bool TryRead(ReadOnlySpan<byte> source, out TransferLetter letter)
    {
        letter = default;
        if (source.Length < HeaderBytes || source[0] > (byte)TransferLetterKind.Declined)
        {
            return false;
        }

        letter = new TransferLetter
        {
            Kind = (TransferLetterKind)source[0],
            Number = BinaryPrimitives.ReadInt64LittleEndian(source[1..]),
            Chunks = BinaryPrimitives.ReadInt32LittleEndian(source[9..]),
            Value = BinaryPrimitives.ReadInt64LittleEndian(source[13..]),
            Body = source[HeaderBytes..],
        };
        return letter.Value >= 0 && letter.Kind switch
        {
            TransferLetterKind.Pull => letter.Body.Length <= ITransfers.MostSubjectBytes,
            TransferLetterKind.Chunk => !letter.Body.IsEmpty,
            TransferLetterKind.Declined => letter.Body.IsEmpty && letter.Value <= (long)TransferFailure.Unreadable,
            _ => letter.Body.IsEmpty,
        };
    }

    public static void WriteHeader(Span<byte> destination, TransferLetterKind kind, long number, long value, int chunks = 0)
    {
        destination[0] = (byte)kind;
        BinaryPrimitives.WriteInt64LittleEndian(destination[1..], number);
        BinaryPrimitives.WriteInt32LittleEndian(destination[9..], chunks);
        BinaryPrimitives.WriteInt64LittleEndian(destination[13..], value);
    }
}
