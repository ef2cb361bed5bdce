using System.Buffers.Binary;
using QuickSilver.Serialization;

namespace QuickSilver.States;

internal enum StateMessageKind : byte
{
    /// <summary>A change of a key.</summary>
    Entry = 0,

    /// <summary>A node wants what the others have: all answer with a mark.</summary>
    Hello = 1,

    /// <summary>What its sender changed before was sent before it, and what follows goes to the node that said hello, too.</summary>
    Mark = 2,

    /// <summary>The node that said hello asks one of the others to give what it has.</summary>
    Ask = 3,
}

// A message of a state's topic: an entry, or a step of a node's joining.
internal readonly struct StateMessage<TKey, TValue>
{
    public StateMessageKind Kind { get; init; }

    /// <summary>Of an entry.</summary>
    public StateEntry<TKey, TValue>? Entry { get; init; }

    /// <summary>Of a mark: the node that said hello. Of an ask: the node that is asked.</summary>
    public NodeId Node { get; init; }

    /// <summary>The number of the hello.</summary>
    public long Number { get; init; }

    /// <summary>Of a hello: the box of its inbox.</summary>
    public int Box { get; init; }

    /// <summary>Of a mark: how old the state is, as far as its sender knows. 0 from versions that do not say.</summary>
    public int AgeSeconds { get; init; }

    /// <summary>Of a mark: whether its sender is complete.</summary>
    public bool IsComplete { get; init; }

    /// <summary>Of a hello: whether its sender was complete before, so that it does not join.</summary>
    public bool IsHolder { get; init; }
}

// Little endian: the kind (1 byte); of an entry, what StateEntryBytes says; otherwise the node (8 and 4 bytes), the number (8), the box
// (4; of a mark, the age of the state in seconds) and whether the sender is complete (bit 1) and was complete before (bit 2).
internal sealed class StateCodec<TKey, TValue>(StateEntryBytes<TKey, TValue> entries, PayloadSchema schema)
    : IPayloadCodec<StateMessage<TKey, TValue>>
{
    private const int StepBytes = 1 + NodeBytes + 8 + 4 + 1;
    private const int NodeBytes = 12;

    public PayloadSchema Schema { get; } = schema;

    public int GetSize(in StateMessage<TKey, TValue> value) =>
        value.Kind == StateMessageKind.Entry ? checked(1 + entries.GetSize(value.Entry!)) : StepBytes;

    public int Write(in StateMessage<TKey, TValue> value, Span<byte> destination)
    {
        destination[0] = (byte)value.Kind;
        if (value.Kind == StateMessageKind.Entry)
        {
            return 1 + entries.Write(value.Entry!, destination[1..]);
        }

        BinaryPrimitives.WriteUInt64LittleEndian(destination[1..], value.Node.Id);
        BinaryPrimitives.WriteUInt32LittleEndian(destination[9..], value.Node.Incarnation);
        BinaryPrimitives.WriteInt64LittleEndian(destination[13..], value.Number);
        BinaryPrimitives.WriteInt32LittleEndian(destination[21..], value.Kind == StateMessageKind.Mark ? value.AgeSeconds : value.Box);
        destination[25] = (byte)((value.IsComplete ? 1 : 0) | (value.IsHolder ? 2 : 0));
        return StepBytes;
    }

    public StateMessage<TKey, TValue> Read(ReadOnlySpan<byte> source)
    {
        if (source.IsEmpty || source[0] > (byte)StateMessageKind.Ask)
        {
            throw PayloadFormatException.Of("The message of a state is malformed: it has no known kind");
        }

        if (source[0] == (byte)StateMessageKind.Entry)
        {
            var rest = source[1..];
            return new StateMessage<TKey, TValue> { Entry = entries.Read(ref rest) };
        }

        if (source.Length < StepBytes)
        {
            throw PayloadFormatException.Of($"The message of a state is malformed: it has {source.Length} bytes");
        }

        bool isMark = source[0] == (byte)StateMessageKind.Mark;
        int boxOrAge = BinaryPrimitives.ReadInt32LittleEndian(source[21..]);
        return new StateMessage<TKey, TValue>
        {
            Kind = (StateMessageKind)source[0],
            Node = new NodeId(
                BinaryPrimitives.ReadUInt64LittleEndian(source[1..]), BinaryPrimitives.ReadUInt32LittleEndian(source[9..])),
            Number = BinaryPrimitives.ReadInt64LittleEndian(source[13..]),
            Box = isMark ? 0 : boxOrAge,
            AgeSeconds = isMark ? Math.Max(0, boxOrAge) : 0,
            IsComplete = (source[25] & 1) != 0,
            IsHolder = (source[25] & 2) != 0,
        };
    }
}

// The bytes of an entry, in messages and in letters: the counter (8 bytes, the sign says that the key was removed), the node (8 and 4), the
// length of the key (4), the key, the length of the value (4; absent if it was removed) and the value.
internal sealed class StateEntryBytes<TKey, TValue>(IPayloadCodec<TKey> keys, IPayloadCodec<TValue> values)
{
    private const int FixedBytes = 8 + 12 + 4;

    public int GetSize(StateEntry<TKey, TValue> entry) =>
        checked(FixedBytes + keys.GetSize(entry.Key) + (entry.IsRemoved ? 0 : 4 + values.GetSize(entry.Value!)));

    public int Write(StateEntry<TKey, TValue> entry, Span<byte> destination)
    {
        BinaryPrimitives.WriteInt64LittleEndian(destination, entry.IsRemoved ? -entry.Stamp.Counter : entry.Stamp.Counter);
        BinaryPrimitives.WriteUInt64LittleEndian(destination[8..], entry.Stamp.Origin.Id);
        BinaryPrimitives.WriteUInt32LittleEndian(destination[16..], entry.Stamp.Origin.Incarnation);
        int at = FixedBytes + keys.Write(entry.Key, destination[FixedBytes..]);
        BinaryPrimitives.WriteInt32LittleEndian(destination[20..], at - FixedBytes);
        if (!entry.IsRemoved)
        {
            int length = values.Write(entry.Value!, destination[(at + 4)..]);
            BinaryPrimitives.WriteInt32LittleEndian(destination[at..], length);
            at += 4 + length;
        }

        return at;
    }

    /// <summary>Reads an entry, which is not trusted, and moves the source behind it.</summary>
    public StateEntry<TKey, TValue> Read(ref ReadOnlySpan<byte> source) => Decode(StateEntryFrame.Read(ref source));

    /// <summary>A codec of the application may throw anything.</summary>
    public StateEntry<TKey, TValue> Decode(in StateEntryFrame frame) =>
        new(keys.Read(frame.Key), frame.IsRemoved ? default : values.Read(frame.Value), frame.IsRemoved, frame.Stamp);
}

// The parts of an entry, before the codecs of the application read them: so an entry that they cannot read costs no others.
internal readonly ref struct StateEntryFrame
{
    /// <summary>Those before the key and its length.</summary>
    private const int StampBytes = 8 + 12;

    public StateStamp Stamp { get; private init; }

    public bool IsRemoved { get; private init; }

    public ReadOnlySpan<byte> Key { get; private init; }

    /// <summary>Empty if the key was removed.</summary>
    public ReadOnlySpan<byte> Value { get; private init; }

    public static StateEntryFrame Read(ref ReadOnlySpan<byte> source)
    {
        if (source.Length < StampBytes)
        {
            throw Malformed();
        }

        long counter = BinaryPrimitives.ReadInt64LittleEndian(source);
        bool isRemoved = counter < 0;
        counter = isRemoved ? -counter : counter;
        if (counter is <= 0 or > StateStamp.MaxCounter)
        {
            throw Malformed();
        }

        var origin = new NodeId(
            BinaryPrimitives.ReadUInt64LittleEndian(source[8..]), BinaryPrimitives.ReadUInt32LittleEndian(source[16..]));
        source = source[StampBytes..];
        return new StateEntryFrame
        {
            Stamp = new StateStamp(counter, origin),
            IsRemoved = isRemoved,
            Key = Part(ref source),
            Value = isRemoved ? default : Part(ref source),
        };
    }

    private static ReadOnlySpan<byte> Part(ref ReadOnlySpan<byte> source)
    {
        if (source.Length < 4 || BinaryPrimitives.ReadInt32LittleEndian(source) is var length && (uint)length > (uint)(source.Length - 4))
        {
            throw Malformed();
        }

        var part = source.Slice(4, length);
        source = source[(4 + length)..];
        return part;
    }

    private static PayloadFormatException Malformed() => new("The entry of a state is malformed.");
}
