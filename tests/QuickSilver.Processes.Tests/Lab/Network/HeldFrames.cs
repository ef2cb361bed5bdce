namespace QuickSilver.Processes.Tests.Lab.Network;

// Frames under way: those due first come first, and those due at once in the order in which they came in. Buffers are
// kept for the next frame, since a collection in this process would look like a pause of the network.
internal sealed class HeldFrames
{
    private const long MaxBytes = 128L << 20;
    private const int UsualBytes = 2048;
    private readonly PriorityQueue<HeldFrame, (long Due, long Number)> _queue = new();
    private readonly Stack<byte[]> _free = new();
    private long _heldBytes;
    private long _number;

    /// <summary>Copies the frame; false when too much is held already, and the frame must be dropped.</summary>
    public bool TryHold(ReadOnlySpan<byte> frame, int from, int to, long due)
    {
        if (_heldBytes + frame.Length > MaxBytes)
        {
            return false;
        }

        var copy = frame.Length <= UsualBytes && _free.TryPop(out var used) ? used : new byte[Math.Max(frame.Length, UsualBytes)];
        frame.CopyTo(copy);
        _heldBytes += frame.Length;
        _queue.Enqueue(new HeldFrame(copy, frame.Length, from, to), (due, _number++));
        return true;
    }

    public bool TryTakeDue(long now, out HeldFrame frame)
    {
        if (!_queue.TryPeek(out frame, out var at) || at.Due > now)
        {
            return false;
        }

        _heldBytes -= frame.Length;
        _queue.Dequeue();
        return true;
    }

    public void Return(HeldFrame frame)
    {
        if (frame.Buffer.Length == UsualBytes)
        {
            _free.Push(frame.Buffer);
        }
    }

    public long? NextDue => _queue.TryPeek(out _, out var at) ? at.Due : null;
}

internal readonly record struct HeldFrame(byte[] Buffer, int Length, int From, int To);
