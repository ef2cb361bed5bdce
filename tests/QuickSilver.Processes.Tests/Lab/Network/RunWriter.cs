using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Lab.Network;

// Writes frames to one node. Neighbours of one flow that come in the same turn are joined to one run, as a network card
// with receive coalescing joins them: so receivers see runs with holes, and one write carries up to 64 frames.
// A run consists of equal segments; a shorter one may only be its last.
internal sealed class RunWriter(TapDevice tap)
{
    private const int MaxSegments = 64;
    private const int MaxBytes = 65_000;
    private readonly byte[] _run = new byte[MaxBytes];
    private int _length;
    private int _segments;
    private int _segmentBytes;
    private bool _isClosed;
    private long _refused;

    /// <summary>Writes that the kernel refused; each may have been a run.</summary>
    public long Refused => Volatile.Read(ref _refused);

    public void Write(Frame frame)
    {
        if (TryJoin(frame))
        {
            return;
        }

        Flush();
        if (!tap.CarriesRuns || !frame.CanJoinRun || frame.Bytes.Length > MaxBytes)
        {
            WriteNow(frame.Bytes);
            return;
        }

        frame.Bytes.CopyTo(_run);
        _length = frame.Bytes.Length;
        _segments = 1;
        _segmentBytes = frame.Payload.Length;
        _isClosed = false;
    }

    public void Flush()
    {
        if (_segments == 0)
        {
            return;
        }

        var bytes = _run.AsSpan(0, _length);
        if (_segments > 1)
        {
            new Frame(bytes).MarkRun(_segmentBytes);
        }

        _segments = 0;
        WriteNow(bytes);
    }

    private bool TryJoin(Frame frame)
    {
        if (_segments == 0 || _segments == MaxSegments || _isClosed || !frame.CanJoinRun)
        {
            return false;
        }

        var payload = frame.Payload;
        if (payload.Length > _segmentBytes || _length + payload.Length > MaxBytes || !frame.HasFlowOf(new Frame(_run.AsSpan(0, _length))))
        {
            return false;
        }

        payload.CopyTo(_run.AsSpan(_length));
        _length += payload.Length;
        _segments++;
        _isClosed = payload.Length < _segmentBytes;
        return true;
    }

    private void WriteNow(ReadOnlySpan<byte> bytes)
    {
        if (Linux.Write(tap.File, bytes, (nuint)bytes.Length) < 0)
        {
            Volatile.Write(ref _refused, _refused + 1);
        }
    }
}
