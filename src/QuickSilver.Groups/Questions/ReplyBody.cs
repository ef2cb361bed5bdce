using System.Buffers.Binary;
using QuickSilver.Inboxes;
using QuickSilver.Membership.Views;
using QuickSilver.Serialization;

namespace QuickSilver.Groups.Questions;

// A letter with an answer, little endian: the topic of the group (8 bytes), the number of the question at the asking node (8), whether the
// member declines (1), the mark of the answer's type (8), and the answer in its codec.
internal static class ReplyBody
{
    public const int HeaderBytes = 8 + 8 + 1 + 8;

    /// <summary>
    /// A number that follows from the name and the kind of a type, so that an answer is not read as another type. The fields are left out:
    /// they may change as those of payloads.
    /// </summary>
    public static ulong TypeOf(PayloadSchema schema) => TopicId.Of($"{schema.Kind} {schema.TypeName}");

    /// <exception cref="MessageTooLargeException">The answer is too large.</exception>
    public static byte[] Answer<TReply>(ulong topic, long id, TReply reply, IPayloadCodec<TReply> codec)
    {
        int size = checked(HeaderBytes + codec.GetSize(reply));
        MessageTooLargeException.ThrowIfOver(Inbox.HeaderBytes + size);
        byte[] letter = new byte[size];
        WriteHead(letter, topic, id, isDeclined: false, TypeOf(codec.Schema));
        int written = HeaderBytes + codec.Write(reply, letter.AsSpan(HeaderBytes));
        return written == size ? letter : letter[..written];
    }

    public static byte[] Decline(ulong topic, long id)
    {
        byte[] letter = new byte[HeaderBytes];
        WriteHead(letter, topic, id, isDeclined: true, type: 0);
        return letter;
    }

    /// <summary>Reads what another node sent. False: it is malformed.</summary>
    public static bool TryRead(ReadOnlySpan<byte> letter, out ReplyHead head)
    {
        head = default;
        if (letter.Length < HeaderBytes || letter[16] > 1)
        {
            return false;
        }

        head = new ReplyHead(
            BinaryPrimitives.ReadUInt64LittleEndian(letter),
            BinaryPrimitives.ReadInt64LittleEndian(letter[8..]),
            letter[16] == 1,
            BinaryPrimitives.ReadUInt64LittleEndian(letter[17..]));
        return true;
    }

    private static void WriteHead(Span<byte> letter, ulong topic, long id, bool isDeclined, ulong type)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(letter, topic);
        BinaryPrimitives.WriteInt64LittleEndian(letter[8..], id);
        letter[16] = (byte)(isDeclined ? 1 : 0);
        BinaryPrimitives.WriteUInt64LittleEndian(letter[17..], type);
    }
}

// What stands before the answer.
internal readonly record struct ReplyHead(ulong Topic, long Id, bool IsDeclined, ulong Type);
