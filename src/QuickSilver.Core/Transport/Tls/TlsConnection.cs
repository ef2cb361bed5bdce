using System.Buffers;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Threading.Channels;
using QuickSilver.Core.Background;
using QuickSilver.Core.Transport.Streams;

namespace QuickSilver.Core.Transport.Tls;

// One TLS stream over its socket, on the thread pool: the handshake costs milliseconds of a processor, which the core thread does not have.
// The core thread is told by a post and takes what is there.
//
// Invariants: at most one piece that came lies here, and the next is read when it was taken, so TCP holds the peer back. What is to be sent
// is counted until TLS has taken it. It ends when the core thread closes it, and within a second from then.
internal sealed class TlsConnection
{
    public static readonly TimeSpan HandshakeLimit = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan LingerLimit = TimeSpan.FromSeconds(1);
    private const int PieceBytes = 16 << 10;

    private readonly Socket _socket;
    private readonly TlsSide _side;
    private readonly Action _post;
    private readonly Channel<byte[]> _output = Channel.CreateUnbounded<byte[]>(new UnboundedChannelOptions { SingleReader = true });
    private readonly SemaphoreSlim _taken = new(0);
    private readonly TaskCompletionSource _closed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly CancellationTokenSource _handshake = new(HandshakeLimit);
    private byte[] _piece = [];
    private int _pieceBytes;
    private long _pendingBytes;
    private bool _hasRead;
    private volatile bool _isOpen;
    private volatile bool _isClosing;
    private volatile string? _end;

    /// <param name="socket">Connected, or to be; the connection's from here on.</param>
    /// <param name="side">Which side of the handshake this is.</param>
    /// <param name="post">Called when there is something to take; from any thread.</param>
    public TlsConnection(Socket socket, TlsSide side, Action post)
    {
        _socket = socket;
        _side = side;
        _post = post;
    }

    /// <summary>The handshake is over, and the peer is known.</summary>
    public bool IsOpen => _isOpen;

    /// <summary>Why nothing comes any more; null while something may. What came before is taken first.</summary>
    public string? End => Volatile.Read(ref _pieceBytes) == 0 ? _end : null;

    public long PendingBytes => Volatile.Read(ref _pendingBytes);

    /// <summary>The handshake failed before the peer had sent a byte.</summary>
    public bool WasSilent { get; private set; }

    /// <summary>Ends a while after Close.</summary>
    public Task Run { get; private set; } = Task.CompletedTask;

    public bool HasPiece => Volatile.Read(ref _pieceBytes) > 0;

    public void Begin() => Run = Detached.Run(RunAsync);

    public void Send(byte[] bytes)
    {
        Interlocked.Add(ref _pendingBytes, bytes.Length);
        _output.Writer.TryWrite(bytes);
    }

    /// <summary>What came; the memory is valid until Release.</summary>
    public ReadOnlySpan<byte> Piece => _piece.AsSpan(0, Volatile.Read(ref _pieceBytes));

    public void Release()
    {
        Volatile.Write(ref _pieceBytes, 0);
        _taken.Release();
    }

    /// <summary>Reads no more. What was queued is still sent.</summary>
    public void Close()
    {
        _isClosing = true;
        _output.Writer.TryComplete();
        if (!_isOpen)
        {
            _handshake.Cancel();
        }

        _closed.TrySetResult();
        // The reader looks the other way round: it puts the piece there, and then looks whether this is closed.
        Interlocked.MemoryBarrier();
        if (HasPiece)
        {
            Release();
        }
    }

    private async Task RunAsync()
    {
        SslStream? tls = null;
        try
        {
            tls = await ShakeHandsAsync().ConfigureAwait(false);
            if (tls is null)
            {
                await _closed.Task.ConfigureAwait(false);
                return;
            }

            var reading = ReadAsync(tls);
            var writing = WriteAsync(tls);
            _post();
            await _closed.Task.ConfigureAwait(false);
            await SayLastWordsAsync(tls, reading, writing).ConfigureAwait(false);
        }
        finally
        {
            _socket.Dispose();
            if (tls is not null)
            {
                await tls.DisposeAsync().ConfigureAwait(false);
            }

            _handshake.Dispose();
        }
    }

    private async Task<SslStream?> ShakeHandsAsync()
    {
        FirstBytesStream? beneath = null;
        SslStream? tls = null;
        try
        {
            await _side.ConnectAsync(_socket, _handshake.Token).ConfigureAwait(false);
            beneath = new FirstBytesStream(new NetworkStream(_socket, ownsSocket: false));
            tls = new SslStream(beneath);
            await _side.AuthenticateAsync(tls, _handshake.Token).ConfigureAwait(false);
            _handshake.CancelAfter(Timeout.Infinite);
            _isOpen = true;
            return tls;
        }
        catch (Exception failure)
        {
            // Whatever it is: the stream ends by what is said here alone.
            if (beneath is { IsForeign: true } && _side is TlsServerSide)
            {
                // So that the peer can tell its user. It sent more than this.
                _socket.Send(TlsSide.NoTlsAlert, SocketFlags.None, out _);
            }

            WasSilent = beneath is not { HasAny: true };
            _end = IsOfNetwork(failure) || failure is OperationCanceledException or CredentialException
                ? _side.InWords(failure, beneath, HandshakeLimit)
                : $"the TLS handshake failed in this process: {failure.Message.TrimEnd('.')}";
            if (tls is not null)
            {
                await tls.DisposeAsync().ConfigureAwait(false);
            }

            _post();
            return null;
        }
    }

    private async Task ReadAsync(SslStream tls)
    {
        Exception? failure = null;
        try
        {
            while (await ReadPieceAsync(tls).ConfigureAwait(false))
            {
            }
        }
        catch (Exception broken) when (IsOfNetwork(broken))
        {
            failure = broken;
        }

        _end = !_hasRead ? _side.BeforeAnything(failure)
            : failure is null ? "the peer closed the stream"
            : StreamFailure.Of(failure);
        _post();
    }

    private async Task<bool> ReadPieceAsync(SslStream tls)
    {
        // Most streams are idle most of the time, and have no memory then.
        await tls.ReadAsync(Memory<byte>.Empty).ConfigureAwait(false);
        byte[] piece = ArrayPool<byte>.Shared.Rent(PieceBytes);
        try
        {
            int read = await tls.ReadAsync(piece.AsMemory(0, PieceBytes)).ConfigureAwait(false);
            if (read > 0)
            {
                _hasRead = true;
                _piece = piece;
                Interlocked.Exchange(ref _pieceBytes, read);
                if (!_isClosing)
                {
                    _post();
                    await _taken.WaitAsync().ConfigureAwait(false);
                }

                _piece = [];
            }

            return read > 0;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(piece);
        }
    }

    private async Task WriteAsync(SslStream tls)
    {
        byte[] gathered = new byte[PieceBytes];
        try
        {
            while (await _output.Reader.WaitToReadAsync().ConfigureAwait(false))
            {
                while (_output.Reader.TryRead(out byte[]? next))
                {
                    await WriteAsync(tls, next, gathered).ConfigureAwait(false);
                }
            }
        }
        catch (Exception broken) when (IsOfNetwork(broken))
        {
            // The reader finds the same. Where it does not, it is not waited for.
            await Task.WhenAny(_closed.Task, Task.Delay(LingerLimit)).ConfigureAwait(false);
            if (!_isClosing)
            {
                _socket.Dispose();
            }
        }
    }

    // Small pieces go together: each write is a record of its own.
    private async Task WriteAsync(SslStream tls, byte[] next, byte[] gathered)
    {
        int bytes = 0;
        while (next.Length <= gathered.Length - bytes)
        {
            next.CopyTo(gathered, bytes);
            bytes += next.Length;
            if (!_output.Reader.TryPeek(out byte[]? following) || following.Length > gathered.Length - bytes)
            {
                break;
            }

            _output.Reader.TryRead(out next!);
        }

        await tls.WriteAsync(bytes > 0 ? gathered.AsMemory(0, bytes) : next).ConfigureAwait(false);
        Interlocked.Add(ref _pendingBytes, -(bytes > 0 ? bytes : next.Length));
    }

    // What the peer still sends is read and dropped: unread bytes at the close would make the system reset the connection, and lose what
    // was sent last.
    private async Task SayLastWordsAsync(SslStream tls, Task reading, Task writing)
    {
        using var limit = new CancellationTokenSource(LingerLimit);
        try
        {
            await writing.WaitAsync(limit.Token).ConfigureAwait(false);
            await tls.ShutdownAsync().WaitAsync(limit.Token).ConfigureAwait(false);
            _socket.Shutdown(SocketShutdown.Send);
            await reading.WaitAsync(limit.Token).ConfigureAwait(false);
        }
        catch (Exception broken) when (IsOfNetwork(broken) || broken is OperationCanceledException)
        {
            // Closed is closed; who cares for an answer waits for it before closing.
        }

        _socket.Dispose();
        await Task.WhenAll(reading, writing).ConfigureAwait(false);
    }

    private static bool IsOfNetwork(Exception failure) => failure
        is IOException or SocketException or AuthenticationException or ObjectDisposedException or InvalidOperationException
        or System.ComponentModel.Win32Exception or System.Security.Cryptography.CryptographicException;
}
