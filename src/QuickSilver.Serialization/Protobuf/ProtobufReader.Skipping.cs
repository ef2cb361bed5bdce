using System.Runtime.CompilerServices;

namespace QuickSilver.Serialization.Protobuf;

// Unknown fields, and a look at what comes before room is made for it.
public ref partial struct ProtobufReader
{
    /// <summary>Skips an unknown field, given its tag.</summary>
    public void Skip(uint tag) => Advance(Skip(Rest, tag, _depth));

    /// <summary>
    /// How many fields with this tag stand in a row, the one whose tag was just read included: lets a collection be made
    /// in its final size. Never more than half the bytes at hand.
    /// </summary>
    public readonly int CountRepeats(uint tag) => CountRepeats(Rest, tag, _depth);

    /// <summary>How many varints are left, when there is nothing else.</summary>
    public readonly int CountVarints()
    {
        int count = 0;
        foreach (byte next in Rest)
        {
            count += next < 0x80 ? 1 : 0;
        }

        return count;
    }

    /// <summary>How many values of this width are left, when there is nothing else.</summary>
    public readonly int CountFixed(int width) => (int)_left / width;

    /// <summary>Throws if a message does not consist of whole fields. Does not look into nested messages.</summary>
    internal static void CheckFields(ReadOnlySpan<byte> message)
    {
        var reader = new ProtobufReader(message);
        while (reader.TryReadTag(out uint tag))
        {
            reader.Skip(tag);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Skip(ReadOnlySpan<byte> source, uint tag, int depth)
    {
        var reader = new ProtobufReader(source, depth, 0);
        switch (tag & 7)
        {
            case ProtobufWireType.Varint:
                reader.ReadUInt64();
                break;
            case ProtobufWireType.Fixed64:
                reader.ReadFixed64();
                break;
            case ProtobufWireType.LengthDelimited:
                reader.ReadLengthDelimited();
                break;
            case ProtobufWireType.Fixed32:
                reader.ReadFixed32();
                break;
            case ProtobufWireType.StartGroup:
                return SkipGroup(source, tag, depth + 1);
            case ProtobufWireType.EndGroup:
                ThrowMalformed("an end-group tag has no matching start");
                break;
            default:
                ThrowMalformed("a field has an unknown wire type");
                break;
        }

        return source.Length - (int)reader._left;
    }

    private static int SkipGroup(ReadOnlySpan<byte> source, uint startTag, int depth)
    {
        if (depth > ProtobufLimits.MaxDepth)
        {
            ThrowMalformed($"groups nest deeper than {ProtobufLimits.MaxDepth}");
        }

        var reader = new ProtobufReader(source, depth, 0);
        uint endTag = startTag + 1;
        while (reader.TryReadTag(out uint tag))
        {
            if (tag == endTag)
            {
                return source.Length - (int)reader._left;
            }

            reader.Skip(tag);
        }

        ThrowTruncated();
        return 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int CountRepeats(ReadOnlySpan<byte> source, uint tag, int depth)
    {
        var ahead = new ProtobufReader(source, depth, 0);
        int count = 0;
        uint next;
        do
        {
            ahead.Skip(tag);
            count++;
        }
        while (ahead.TryReadTag(out next) && next == tag);
        return count;
    }
}
