using System.Buffers.Binary;
using QuickSilver.Membership.Views;

namespace QuickSilver.Groups.Ordering;

// The steps at the beginning of a payload, little endian: the kind (1 byte), the configuration of the view that they are of (8), their
// number (2), and of each the rank of the sender (2) and the number of its message (8). The sender is not a member if the rank is 65,535.
// Its id (8) and its incarnation (4) follow then. In an order message nothing follows, in a causal one the message.
internal static class StepsBody
{
    public const int HeaderBytes = 1 + 8 + 2;

    /// <summary>A step of a member has so many bytes.</summary>
    public const int StepBytes = 2 + 8;

    /// <summary>An order message has at most so many bytes, so that it shares a packet with others.</summary>
    public const int MostOrderBytes = 1024;

    /// <summary>One of another node has so many.</summary>
    public const int KeyBytes = StepBytes + 12;

    public static void WriteHeader(Span<byte> destination, GroupFrame frame, long configuration, int steps)
    {
        destination[0] = (byte)frame;
        BinaryPrimitives.WriteInt64LittleEndian(destination[1..], configuration);
        BinaryPrimitives.WriteUInt16LittleEndian(destination[9..], (ushort)steps);
    }

    /// <summary>Writes a step and gives how many bytes it takes; 0 if it does not fit.</summary>
    public static int Write(Span<byte> destination, int rank, in OrderStep step)
    {
        int bytes = rank < ushort.MaxValue ? StepBytes : KeyBytes;
        if (destination.Length < bytes)
        {
            return 0;
        }

        BinaryPrimitives.WriteUInt16LittleEndian(destination, (ushort)Math.Min(rank, ushort.MaxValue));
        BinaryPrimitives.WriteInt64LittleEndian(destination[2..], step.Through);
        if (bytes == KeyBytes)
        {
            BinaryPrimitives.WriteUInt64LittleEndian(destination[StepBytes..], step.Sender.Id);
            BinaryPrimitives.WriteUInt32LittleEndian(destination[(StepBytes + 8)..], step.Sender.Incarnation);
        }

        return bytes;
    }

    /// <summary>The number of bytes before the message; -1 if the steps are malformed.</summary>
    public static int Measure(ReadOnlySpan<byte> source)
    {
        if (source.Length < HeaderBytes)
        {
            return -1;
        }

        int at = HeaderBytes;
        for (int left = BinaryPrimitives.ReadUInt16LittleEndian(source[9..]); left > 0; left--)
        {
            bool isMember = source.Length >= at + 2 && BinaryPrimitives.ReadUInt16LittleEndian(source[at..]) != ushort.MaxValue;
            at += isMember ? StepBytes : KeyBytes;
            if (at > source.Length)
            {
                return -1;
            }
        }

        return at;
    }

    /// <summary>
    /// Reads the steps, which are not trusted. Those that are malformed, or of another view, are none: what they would say of the members
    /// does not hold in this view.
    /// </summary>
    public static OrderStep[] Read(ReadOnlySpan<byte> source, long configuration, ReadOnlySpan<NodeKey> members)
    {
        if (Measure(source) < 0 || BinaryPrimitives.ReadInt64LittleEndian(source[1..]) != configuration)
        {
            return [];
        }

        var steps = new OrderStep[BinaryPrimitives.ReadUInt16LittleEndian(source[9..])];
        var rest = source[HeaderBytes..];
        for (int i = 0; i < steps.Length; i++)
        {
            int rank = BinaryPrimitives.ReadUInt16LittleEndian(rest);
            long through = BinaryPrimitives.ReadInt64LittleEndian(rest[2..]);
            bool isMember = rank != ushort.MaxValue;
            if (isMember && rank >= members.Length)
            {
                return [];
            }

            var sender = isMember
                ? members[rank]
                : new NodeKey(
                    BinaryPrimitives.ReadUInt64LittleEndian(rest[StepBytes..]),
                    BinaryPrimitives.ReadUInt32LittleEndian(rest[(StepBytes + 8)..]));
            steps[i] = new OrderStep(sender, through);
            rest = rest[(isMember ? StepBytes : KeyBytes)..];
        }

        return steps;
    }
}
