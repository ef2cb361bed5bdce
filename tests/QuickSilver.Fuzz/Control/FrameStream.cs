using QuickSilver.Membership.Protocol;

namespace QuickSilver.Fuzz.Control;

// The frames at the start of some bytes, up to the first that is not whole or has no meaning.
internal ref struct FrameStream(ReadOnlySpan<byte> bytes)
{
    // What a message of a few bytes allocates at most that is refused with an exception, or read, written and read again.
    private const long MessageBytes = 8 << 10;

    private ReadOnlySpan<byte> _rest = bytes;

    /// <summary>The kind of the frame's message.</summary>
    public int Kind { get; private set; }

    /// <summary>The frame's message.</summary>
    public ReadOnlySpan<byte> Body { get; private set; }

    /// <summary>What the messages of these frames may allocate whatever their length. A frame of six bytes is a message.</summary>
    public static long AllocationLimit(ReadOnlySpan<byte> bytes)
    {
        long limit = 0;
        for (var frames = new FrameStream(bytes); frames.MoveNext();)
        {
            limit += MessageBytes;
        }

        return limit;
    }

    public bool MoveNext()
    {
        if (ControlFrame.TryCut(_rest, int.MaxValue, out int kind, out var body, out int length) != FrameOutcome.Complete)
        {
            return false;
        }

        Kind = kind;
        Body = body;
        _rest = _rest[length..];
        return true;
    }
}
