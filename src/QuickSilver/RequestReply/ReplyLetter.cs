using System.Buffers.Binary;
using System.Text;
using QuickSilver.Inboxes;
using QuickSilver.Serialization;

namespace QuickSilver.RequestReply;

// The letter with an answer. After the number of the box: the id of the request (8 bytes, little endian), what it is (1 byte), and the
// answer by its own codec, the error as UTF-8, or the fault. A requester of an earlier version takes what it does not know for an error.
internal static class ReplyLetter
{
    public const byte Answer = 0;
    public const byte Failure = 1;
    public const byte Fault = 2;
    // An error too.
    public const byte Undecodable = 3;

    /// <summary>Without the number of the box.</summary>
    public const int HeaderBytes = sizeof(long) + 1;

    private const int MaxErrorCharacters = 1024;
    // A larger letter gets a buffer of its own.
    private const int MaxScratchBytes = 64 << 10;
    private const int PrefixBytes = Inbox.HeaderBytes + HeaderBytes;

    [ThreadStatic]
    private static byte[]? _scratch;

    /// <summary>The letter with an answer; valid until the thread writes the next one.</summary>
    public static ReadOnlyMemory<byte> Of<TReply>(int box, long id, IPayloadCodec<TReply> codec, TReply reply)
    {
        int size = checked(PrefixBytes + codec.GetSize(reply));
        var letter = Begin(box, id, Answer, size);
        return letter.AsMemory(0, PrefixBytes + codec.Write(reply, letter.AsSpan(PrefixBytes, size - PrefixBytes)));
    }

    /// <summary>
    /// Whether the requester with this box reads a fault. One of an earlier version takes its bytes for the text of an error.
    /// </summary>
    public static bool IsFaultReadBy(int box) => box >= Inbox.FirstBox;

    /// <summary>The letter with a fault; valid until the thread writes the next one.</summary>
    /// <exception cref="NotSupportedException">It is too large.</exception>
    public static ReadOnlyMemory<byte> OfFault(int box, long id, FaultDetail fault, string error)
    {
        byte[] body = fault.Write(Bounded(error));
        var letter = Begin(box, id, Fault, PrefixBytes + body.Length);
        body.CopyTo(letter, PrefixBytes);
        return letter.AsMemory(0, PrefixBytes + body.Length);
    }

    /// <summary>The letter with an error; valid until the thread writes the next one.</summary>
    public static ReadOnlyMemory<byte> OfFailure(int box, long id, string error) => OfError(box, id, Failure, error);

    /// <summary>
    /// The letter with the error that a request cannot be decoded; valid until the thread writes the next one.
    /// </summary>
    public static ReadOnlyMemory<byte> OfUndecodable(int box, long id, string error) => OfError(box, id, Undecodable, error);

    private static ReadOnlyMemory<byte> OfError(int box, long id, byte what, string error)
    {
        error = Bounded(error);
        int size = PrefixBytes + Encoding.UTF8.GetByteCount(error);
        var letter = Begin(box, id, what, size);
        Encoding.UTF8.GetBytes(error, letter.AsSpan(PrefixBytes));
        return letter.AsMemory(0, size);
    }

    private static string Bounded(string error) => error.Length <= MaxErrorCharacters ? error : error[..MaxErrorCharacters];

    private static byte[] Begin(int box, long id, byte what, int size)
    {
        byte[] letter = size > MaxScratchBytes ? new byte[size] : _scratch ??= new byte[MaxScratchBytes];
        BinaryPrimitives.WriteInt32LittleEndian(letter, box);
        BinaryPrimitives.WriteInt64LittleEndian(letter.AsSpan(Inbox.HeaderBytes), id);
        letter[Inbox.HeaderBytes + sizeof(long)] = what;
        return letter;
    }
}
