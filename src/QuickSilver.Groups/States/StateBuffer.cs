using System.IO.Pipelines;

namespace QuickSilver.Groups.States;

// Takes what a member writes as its state. Behind the limit it only counts, and a flush says that no more is read.
internal sealed class StateBuffer(long mostBytes) : PipeWriter
{
    private const int LeastBytes = 4096;

    private byte[] _bytes = [];
    private int _length;
    private byte[] _beyond = [];

    /// <summary>How much was written, in bytes.</summary>
    public long Size { get; private set; }

    public bool IsTooLarge => Size > mostBytes;

    /// <summary>The bytes, if they are within the limit.</summary>
    public ReadOnlyMemory<byte> Written => _bytes.AsMemory(0, _length);

    public override bool CanGetUnflushedBytes => true;

    public override long UnflushedBytes => 0;

    public override Memory<byte> GetMemory(int sizeHint = 0)
    {
        int least = Math.Max(sizeHint, 1);
        if (IsTooLarge)
        {
            _bytes = [];
            _length = 0;
            if (_beyond.Length < least)
            {
                _beyond = new byte[Math.Max(least, LeastBytes)];
            }

            return _beyond;
        }

        if (_bytes.Length - _length < least)
        {
            long doubled = Math.Min(Math.Max(2L * _bytes.Length, LeastBytes), mostBytes + 1);
            Array.Resize(ref _bytes, checked((int)Math.Max(doubled, (long)_length + least)));
        }

        return _bytes.AsMemory(_length);
    }

    public override Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

    public override void Advance(int bytes)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(bytes);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(bytes, IsTooLarge ? _beyond.Length : _bytes.Length - _length);
        if (!IsTooLarge)
        {
            _length += bytes;
        }

        Size += bytes;
    }

    public override ValueTask<FlushResult> FlushAsync(CancellationToken cancellationToken = default) =>
        cancellationToken.IsCancellationRequested
            ? ValueTask.FromCanceled<FlushResult>(cancellationToken)
            : new ValueTask<FlushResult>(new FlushResult(isCanceled: false, isCompleted: IsTooLarge));

    public override void CancelPendingFlush()
    {
    }

    public override void Complete(Exception? exception = null)
    {
        if (exception is not null)
        {
            throw exception;
        }
    }
}
