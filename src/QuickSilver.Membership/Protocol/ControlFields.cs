using System.Diagnostics.CodeAnalysis;
using System.Net;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol;

// A field whose tag was read and whose value comes next.
internal readonly record struct ControlField(uint Tag)
{
    public int Number => (int)(Tag >> 3);

    private uint Type => Tag & 7;

    // A payload's reader skips a field of an unexpected wire type. Here no version sends one.
    public void Expect(uint type)
    {
        if (Type != type)
        {
            ThrowOtherType(type);
        }
    }

    [DoesNotReturn]
    private void ThrowOtherType(uint type) =>
        throw new ControlFormatException($"Field {Number} has wire type {Type}; expected {type}.");
}

// How control messages read their fields: by number, with the one wire type that a field has, and within bounds. Any error is a
// QuickSilverException, which ControlFrame.TryRead turns into the reason to close the stream. Nothing is allocated from a length before
// that many bytes were seen to be there.
internal static class ControlFields
{
    /// <summary>Moves to the next field; false at the end.</summary>
    public static bool TryReadField(this scoped ref ProtobufReader reader, out ControlField field)
    {
        bool isThere = reader.TryReadTag(out uint tag);
        field = new ControlField(tag);
        return isThere;
    }

    public static void Skip(this scoped ref ProtobufReader reader, ControlField field) => reader.Skip(field.Tag);

    public static ulong ReadUInt64(this scoped ref ProtobufReader reader, ControlField field)
    {
        field.Expect(ProtobufWireType.Varint);
        return reader.ReadUInt64();
    }

    public static long ReadInt64(this scoped ref ProtobufReader reader, ControlField field) => (long)reader.ReadUInt64(field);

    public static bool ReadBool(this scoped ref ProtobufReader reader, ControlField field) => reader.ReadUInt64(field) != 0;

    public static uint ReadUInt32(this scoped ref ProtobufReader reader, ControlField field) =>
        (uint)ProtobufReader.InRange(reader.ReadInt64(field), 0, uint.MaxValue);

    /// <summary>A number from 0 to <paramref name="max"/>.</summary>
    public static int ReadInt32(this scoped ref ProtobufReader reader, ControlField field, int max) =>
        (int)ProtobufReader.InRange(reader.ReadInt64(field), 0, max);

    public static ulong ReadFixed64(this scoped ref ProtobufReader reader, ControlField field)
    {
        field.Expect(ProtobufWireType.Fixed64);
        return reader.ReadFixed64();
    }

    public static ReadOnlySpan<byte> ReadBytes(this scoped ref ProtobufReader reader, ControlField field)
    {
        field.Expect(ProtobufWireType.LengthDelimited);
        return reader.ReadLengthDelimited();
    }

    public static ProtobufReader ReadMessage(this scoped ref ProtobufReader reader, ControlField field)
    {
        field.Expect(ProtobufWireType.LengthDelimited);
        return reader.ReadMessage();
    }

    /// <summary>UTF-8 text of at most so many bytes.</summary>
    public static string ReadText(this scoped ref ProtobufReader reader, ControlField field, int maxBytes)
    {
        var bytes = reader.ReadBytes(field);
        return bytes.Length <= maxBytes
            ? ProtobufReader.ToText(bytes)
            : throw new ControlFormatException($"Field {field.Number} has a text of {bytes.Length} bytes; the limit is {maxBytes}.");
    }

    public static ulong[] ReadPackedFixed64(this scoped ref ProtobufReader reader, ControlField field, int maxCount)
    {
        field.Expect(ProtobufWireType.LengthDelimited);
        var packed = reader.ReadPacked();
        int count = packed.CountFixed(sizeof(ulong));
        if (count > maxCount)
        {
            throw new ControlFormatException($"Field {field.Number} has {count} numbers; the limit is {maxCount}.");
        }

        var values = new ulong[count];
        for (int i = 0; !packed.IsAtEnd; i++)
        {
            ulong value = packed.ReadFixed64();
            values[i] = value;
        }

        return values;
    }

    public static IPAddress ReadAddress(this scoped ref ProtobufReader reader, ControlField field)
    {
        var bytes = reader.ReadBytes(field);
        return bytes.Length is 4 or 16
            ? new IPAddress(bytes)
            : throw new ControlFormatException($"Field {field.Number} has an address of {bytes.Length} bytes; expected 4 or 16.");
    }
}
