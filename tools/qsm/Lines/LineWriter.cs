namespace QuickSilver.Tool.Lines;

// Writes payloads as lines to one stream for many topics. Buffered; the caller flushes when it has nothing more to write
// at once, so a busy stream is written in large pieces and a quiet one without delay. Thread-safe.
internal sealed class LineWriter(Stream stream, long? limit) : IDisposable
{
    private const int BufferBytes = 64 << 10;
    private static readonly TimeSpan EndLimit = TimeSpan.FromSeconds(1);

    private readonly Lock _lock = new();
    private readonly BufferedStream _stream = new(stream, BufferBytes);
    private readonly TaskCompletionSource _limitReached = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private long _written;

    public long Written => Interlocked.Read(ref _written);

    /// <summary>Whether as many lines were written as were asked for.</summary>
    public bool IsFull => Written == limit;

    /// <summary>Completes when as many lines were written as were asked for; never where no limit was set.</summary>
    public Task LimitReached => _limitReached.Task;

    /// <summary>Writes a line; what comes after the limit is dropped.</summary>
    public void Write(ReadOnlySpan<byte> prefix, ReadOnlySpan<byte> payload)
    {
        lock (_lock)
        {
            if (_written == limit)
            {
                return;
            }

            _stream.Write(prefix);
            _stream.Write(payload);
            _stream.WriteByte((byte)'\n');
            Interlocked.Increment(ref _written);
            if (_written == limit)
            {
                _stream.Flush();
                _limitReached.TrySetResult();
            }
        }
    }

    public void Flush()
    {
        lock (_lock)
        {
            _stream.Flush();
        }
    }

    /// <summary>Writes what is left, unless the stream stands still.</summary>
    public void Dispose()
    {
        if (_lock.TryEnter(EndLimit))
        {
            try
            {
                _stream.Dispose();
            }
            finally
            {
                _lock.Exit();
            }
        }
    }
}
