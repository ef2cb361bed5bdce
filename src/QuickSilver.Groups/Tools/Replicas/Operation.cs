using System.Buffers.Binary;

namespace QuickSilver.Groups.Tools.Replicas;

// A message of a tool's group: the kind (1 byte), the number of the operation at its node (8), and the fields of the kind. The node and
// the number are the id of the operation.
internal readonly ref struct Operation
{
    /// <summary>
    /// The operations of the sender up to a number have no caller any more, as after it was removed and came back. The kinds of a tool
    /// follow.
    /// </summary>
    public const byte Forget = 0;

    private const int HeaderBytes = 1 + sizeof(long);

    private Operation(byte kind, long number, ReadOnlySpan<byte> body)
    {
        Kind = kind;
        Number = number;
        Body = body;
    }

    public byte Kind { get; }

    public long Number { get; }

    /// <summary>The fields of the kind.</summary>
    public ReadOnlySpan<byte> Body { get; }

    /// <summary>A message with room for its fields. Its number is set when it is sent.</summary>
    public static byte[] Create(byte kind, int bodyBytes)
    {
        byte[] message = new byte[checked(HeaderBytes + bodyBytes)];
        message[0] = kind;
        return message;
    }

    public static SpanWriter BodyOf(byte[] message) => new(message.AsSpan(HeaderBytes));

    public static void SetNumber(byte[] message, long number) => BinaryPrimitives.WriteInt64LittleEndian(message.AsSpan(1), number);

    public static bool TryRead(ReadOnlySpan<byte> message, out Operation operation)
    {
        operation = default;
        if (message.Length < HeaderBytes)
        {
            return false;
        }

        operation = new Operation(message[0], BinaryPrimitives.ReadInt64LittleEndian(message[1..]), message[HeaderBytes..]);
        return operation.Number > 0;
    }
}

// What the state machine answers to an operation: the values mean what the tool says. It may come later than the operation.
internal readonly record struct Answer(NodeId Node, long Number, long Value, long Extra = 0);

// An answer as the caller gets it: the number of its operation, and the life of this member in which the answer came.
internal readonly record struct Outcome(long Number, int Life, long Value, long Extra);
