using System.Buffers.Binary;
using QuickSilver.Endpoints;
using QuickSilver.Inboxes;
using QuickSilver.Multicast.Protocols.Transfers;

namespace QuickSilver.Transfers;

// The content that a taker asked for, in letters to it. At most a window of bytes is on its way: the taker confirms what it has taken. A
// taker that confirms nothing for a while, and a content that gives no chunk, end it.
internal sealed class TransferLetters : IBulkLetters
{
    public const int ChunkBytes = 32 << 10;
    /// <summary>The bytes that are on their way at most, in eight chunks.</summary>
    public const long WindowBytes = 8 * ChunkBytes;
    private const int PrefixBytes = Inbox.HeaderBytes + TransferLetter.HeaderBytes;

    private readonly IEndpointNode _core;
    private readonly ITransferContent _content;
    private readonly Action<Exception> _failed;
    private readonly int _box;
    private readonly byte[] _letter = new byte[PrefixBytes + ChunkBytes];
    private readonly Lock _lock = new();
    private TaskCompletionSource? _heard;
    private long _sent;
    private long _taken;
    private int _chunks;
    private bool _isEnded;
    private bool _isStopped;

    /// <param name="core">The node.</param>
    /// <param name="content">What is given.</param>
    /// <param name="box">The box of the letters.</param>
    /// <param name="number">The number of the transfer.</param>
    /// <param name="failed">Called beside the core thread with what the content threw.</param>
    public TransferLetters(IEndpointNode core, ITransferContent content, int box, long number, Action<Exception> failed)
    {
        _failed = failed;
        _core = core;
        _content = content;
        _box = box;
        Number = number;
    }

    public long Number { get; }

    public ReadOnlyMemory<byte> Busy => Declined(TransferFailure.Busy);

    public ReadOnlyMemory<byte> Current { get; private set; }

    /// <summary>
    /// Core thread: the taker has taken so many bytes. The same number again says that it is there, and has no room. What it cannot have
    /// taken is ignored.
    /// </summary>
    public void OnTaken(long bytes)
    {
        TaskCompletionSource? heard = null;
        lock (_lock)
        {
            if (bytes >= _taken && bytes <= _sent)
            {
                _taken = bytes;
                (heard, _heard) = (_heard, null);
            }
        }

        heard?.TrySetResult();
    }

    public async ValueTask<bool> MoveNextAsync()
    {
        if (_isEnded || !await HasRoomAsync().ConfigureAwait(_core.ResumesInContext))
        {
            return false;
        }

        TransferChunk chunk;
        try
        {
            chunk = await ReadAsync().WaitAsync(BulkGiver.LetterLimit, _core.OutsideTime).ConfigureAwait(_core.ResumesInContext);
        }
        catch (TimeoutException)
        {
            // A disk that hangs. The taker has noticed by itself.
            return false;
        }
        catch (Exception exception)
        {
            // A disk that cannot read, or content that is not what it should be.
            _isEnded = true;
            _failed(exception);
            Current = Declined(TransferFailure.Unreadable);
            return true;
        }

        if (chunk.Bytes == 0)
        {
            _isEnded = true;
            Current = Letter(_letter, TransferLetterKind.End, 0)[..PrefixBytes];
            return true;
        }

        Current = Letter(_letter, TransferLetterKind.Chunk, chunk.Through)[..(PrefixBytes + chunk.Bytes)];
        _chunks++;
        lock (_lock)
        {
            _sent += chunk.Bytes;
        }

        return true;
    }

    public void End()
    {
        TaskCompletionSource? heard;
        lock (_lock)
        {
            _isStopped = true;
            (heard, _heard) = (_heard, null);
        }

        heard?.TrySetResult();
    }

    public void Dispose() => _content.Dispose();

    private async ValueTask<bool> HasRoomAsync()
    {
        while (true)
        {
            Task heard;
            lock (_lock)
            {
                if (_isStopped)
                {
                    return false;
                }

                if (_sent - _taken < WindowBytes)
                {
                    return true;
                }

                _heard = new TaskCompletionSource(_core.Completions);
                heard = _heard.Task;
            }

            try
            {
                await heard.WaitAsync(BulkGiver.LetterLimit, _core.OutsideTime).ConfigureAwait(_core.ResumesInContext);
            }
            catch (TimeoutException)
            {
                return false;
            }
        }
    }

    private Task<TransferChunk> ReadAsync()
    {
        var read = new TaskCompletionSource<TransferChunk>(_core.Completions);
        _core.Run(() => _ = ReadAsync(read));
        return read.Task;
    }

    private async Task ReadAsync(TaskCompletionSource<TransferChunk> read)
    {
        try
        {
            read.TrySetResult(await _content.ReadAsync(_letter.AsMemory(PrefixBytes)).ConfigureAwait(_core.ResumesInContext));
        }
        catch (Exception exception)
        {
            read.TrySetException(exception);
        }
    }

    private Memory<byte> Declined(TransferFailure failure) =>
        Letter(new byte[PrefixBytes], TransferLetterKind.Declined, (long)failure);

    private Memory<byte> Letter(byte[] letter, TransferLetterKind kind, long value)
    {
        BinaryPrimitives.WriteInt32LittleEndian(letter, _box);
        TransferLetter.WriteHeader(letter.AsSpan(Inbox.HeaderBytes), kind, Number, value, _chunks);
        return letter;
    }
}
