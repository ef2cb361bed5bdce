using System.Buffers;

namespace QuickSilver.ProtobufNet;

// What protobuf-net writes into, kept per thread: it takes no span. Taken out while in use, so that a value whose getters
// serialize something of their own finds another one.
internal sealed class ScratchWriter : IBufferWriter<byte>
{
    private const int FirstBytes = 256;

    // A rare huge payload should not stay on a thread forever.
    private const int MaxKeptBytes = 1 << 20;

    [ThreadStatic]
    private static ScratchWriter? _kept;

    private byte[] _buffer = new byte[FirstBytes];
    private int _written;

    public ReadOnlySpan<byte> Written => _buffer.AsSpan(0, _written);

    public static ScratchWriter Take()
    {
        var writer = _kept ?? new ScratchWriter();
        _kept = null;
        writer._written = 0;
        return writer;
    }

    public void Return()
    {
        if (_buffer.Length <= MaxKeptBytes)
        {
            _kept = this;
        }
    }

    public void Advance(int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(count, _buffer.Length - _written);
        _written += count;
    }

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        Reserve(sizeHint);
        return _buffer.AsMemory(_written);
    }

    public Span<byte> GetSpan(int sizeHint = 0)
    {
        Reserve(sizeHint);
        return _buffer.AsSpan(_written);
    }

    private void Reserve(int sizeHint)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(sizeHint);
        int needed = checked(_written + Math.Max(1, sizeHint));
        if (needed > _buffer.Length)
        {
            Array.Resize(ref _buffer, (int)Math.Min(Array.MaxLength, Math.Max(needed, _buffer.Length * 2L)));
        }
    }
}
