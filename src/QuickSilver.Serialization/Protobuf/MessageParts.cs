using System.ComponentModel;
using System.Runtime.CompilerServices;

namespace QuickSilver.Serialization.Protobuf;

/// <summary>
/// The bytes of a nested message that is not repeated. If its field occurs several times, the parts are one message, as in every protobuf
/// library: later scalars replace earlier ones, and repeated fields are concatenated. The message is decoded once, after the last part. To
/// decode it at each part would double the time at each level of nesting. Of one part, nothing is copied.
/// </summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public ref struct MessageParts
{
    private ReadOnlySpan<byte> _bytes;
    private byte[]? _joined;

    /// <summary>The first part.</summary>
    public MessageParts(ReadOnlySpan<byte> part)
    {
        _bytes = part;
        IsPresent = true;
    }

    /// <summary>Whether there is any part.</summary>
    public bool IsPresent { get; private set; }

    /// <summary>All parts.</summary>
    internal readonly ReadOnlySpan<byte> Bytes => _bytes;

    /// <summary>Whether the bytes are a copy.</summary>
    internal readonly bool IsJoined => _joined is not null;

    /// <summary>Adds a part.</summary>
    /// <exception cref="PayloadFormatException">This part or one before it ends within a field.</exception>
    public void Add(ReadOnlySpan<byte> part)
    {
        if (_bytes.IsEmpty)
        {
            _bytes = part;
            IsPresent = true;
        }
        else if (!part.IsEmpty)
        {
            Join(part);
        }
    }

    // Doubles its room, so that many small parts take linear time. Each part must end where a field of it ends: the first bytes of the next
    // one would complete a part that is cut short.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Join(ReadOnlySpan<byte> part)
    {
        if (_joined is null)
        {
            ProtobufReader.CheckFields(_bytes);
        }

        ProtobufReader.CheckFields(part);
        int length = checked(_bytes.Length + part.Length);
        byte[] joined = _joined ?? [];
        if (joined.Length < length)
        {
            joined = new byte[(int)Math.Min(Array.MaxLength, Math.Max(length, 2L * joined.Length))];
            _bytes.CopyTo(joined);
        }

        part.CopyTo(joined.AsSpan(_bytes.Length));
        _joined = joined;
        _bytes = joined.AsSpan(0, length);
    }
}
