using System.ComponentModel;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace QuickSilver.Serialization.Protobuf;

/// <summary>
/// Reads protobuf from a span of untrusted bytes. Every length is checked against the bytes at hand before anything is
/// allocated or skipped, nesting is bounded, and whatever is wrong throws <see cref="PayloadFormatException"/> alone.
/// A nested message is read by a reader of its own, which sees nothing but that message.
/// </summary>
/// <remarks>
/// Most messages hold their fields in the order of their numbers. So a codec first tries each of them once (the methods that
/// take a tag), which costs a comparison where it is missing, and reads what then remains by its tags, on a copy. A reader whose
/// address is not taken is kept in registers: so what is inlined into codecs calls static methods alone, and is itself without
/// calls to be inlined, of which the compiler would take too many for a large message.
/// </remarks>
[EditorBrowsable(EditorBrowsableState.Never)]
public ref partial struct ProtobufReader
{
    private readonly int _depth;
    private readonly int _joins;
    private ref readonly byte _at;
    private nint _left;

    /// <summary>Reads a message that is exactly <paramref name="source"/>.</summary>
    public ProtobufReader(ReadOnlySpan<byte> source)
        : this(source, 0, 0)
    {
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ProtobufReader(ReadOnlySpan<byte> source, int depth, int joins)
    {
        _at = ref MemoryMarshal.GetReference(source);
        _left = source.Length;
        _depth = depth;
        _joins = joins;
    }

    /// <summary>Whether all was read.</summary>
    public readonly bool IsAtEnd => _left <= 0;

    /// <summary>The bytes that were not read yet.</summary>
    internal readonly int Left => (int)_left;

    private readonly ReadOnlySpan<byte> Rest => MemoryMarshal.CreateReadOnlySpan(in _at, (int)_left);

    /// <summary>Reads the next field's tag.</summary>
    /// <returns>False at the end of the message.</returns>
    public bool TryReadTag(out uint tag)
    {
        if (IsAtEnd)
        {
            tag = 0;
            return false;
        }

        var (value, bytes) = ReadTag(Rest);
        Advance(bytes);
        tag = value;
        return true;
    }

    /// <summary>A reader of the nested message that follows.</summary>
    public ProtobufReader ReadMessage()
    {
        CheckDepth(_depth + 1);
        return new ProtobufReader(ReadLengthDelimited(), _depth + 1, _joins);
    }

    /// <summary>A reader of a nested message that was read as bytes.</summary>
    public readonly ProtobufReader Enter(ReadOnlySpan<byte> message)
    {
        CheckDepth(_depth + 1);
        return new ProtobufReader(message, _depth + 1, _joins);
    }

    /// <summary>A reader of a nested message of which all parts are known.</summary>
    public readonly ProtobufReader Enter(MessageParts message)
    {
        CheckDepth(_depth + 1);
        return new ProtobufReader(message.Bytes, _depth + 1, message.IsJoined ? Join(_joins) : _joins);
    }

    /// <summary>A reader of the packed values or of the map entry that follow; not a level of nesting.</summary>
    public ProtobufReader ReadPacked() => new(ReadLengthDelimited(), _depth, _joins);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static (uint Tag, int Bytes) ReadTag(ReadOnlySpan<byte> source)
    {
        var (value, bytes) = ReadVarint(source);
        if (value > uint.MaxValue || value < 8)
        {
            ThrowMalformed("a field has no valid number");
        }

        return ((uint)value, bytes);
    }

    private static void CheckDepth(int depth)
    {
        if (depth > ProtobufLimits.MaxDepth)
        {
            ThrowMalformed($"messages nest deeper than {ProtobufLimits.MaxDepth}");
        }
    }

    // A message that is joined within joined ones is copied at each of these levels.
    private static int Join(int joins)
    {
        if (joins >= ProtobufLimits.MaxJoins)
        {
            ThrowMalformed($"messages in several parts nest deeper than {ProtobufLimits.MaxJoins}");
        }

        return joins + 1;
    }

    private void Advance(int bytes)
    {
        _at = ref Unsafe.Add(ref Unsafe.AsRef(in _at), bytes);
        _left -= bytes;
    }

    [DoesNotReturn]
    private static void ThrowTruncated() =>
        throw PayloadFormatException.Of("The message ends in the middle of a field");

    [DoesNotReturn]
    internal static void ThrowMalformed(string what) =>
        throw PayloadFormatException.Of($"The message is malformed: {what}");
}
