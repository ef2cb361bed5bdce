using System.Buffers;
using System.Collections.Concurrent;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Transport.Streams;

namespace QuickSilver.Core.Transport.Tls;

// One TLS stream over its socket, on the stream thread. A post notifies the core thread, which takes what is there; what it does here comes
// to the stream thread by a nudge.
//
// Invariants: at most one piece that came lies here, and the next is read when it was taken, so TCP holds the peer back. What is to be sent
// is counted until TLS has taken it. It ends when the core thread closes it, and within a second from then. All that is awaited here
// completes on the stream thread.
internal sealed class TlsConnection
{
    public static readonly TimeSpan HandshakeLimit = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan LingerLimit = TimeSpan.FromSeconds(1);
    private const int PieceBytes = 16 << 10;

    private readonly Socket _socket;
    private readonly TlsSide _side;
    private readonly StreamCredentials _credentials;
    private readonly StreamThread _thread;
    private readonly Action _post;
    private readonly ConcurrentQueue<byte[]> _output = new();
    private readonly CancellationTokenSource _handshake = new();
    private readonly TaskCompletionSource _run = new();
    // The stream thread's: the core thread has closed this, given more to send, or taken the piece.
    private readonly TaskCompletionSource _closed = new();
    private readonly Signal _given = new();
    private readonly Signal _taken = new();
    private readonly Alarm _limit;
    private SocketPipes? _pipes;
    private byte[] _piece = [];
    private int _pieceBytes;
    private long _pendingBytes;
    private int _isNudged;
    private bool _hasRead;
    private volatile bool _isOpen;
    private volatile bool _isClosing;
    private volatile string? _end;

    /// <param name="socket">Connected, or to be; the connection's from here on.</param>
    /// <param name="side">Which side of the handshake this is.</param>
    /// <param name="credentials">What this process shows and trusts.</param>
    /// <param name="post">Called when there is something to take, on the stream thread.</param>
    public TlsConnection(Socket socket, TlsSide side, StreamCredentials credentials, Action post)
    {
        _socket = socket;
        _side = side;
        _credentials = credentials;
        _thread = credentials.Thread;
        _post = post;
        _limit = new Alarm(OnLimit);
    }

    /// <summary>The handshake is over, and the peer is known.</summary>
    public bool IsOpen => _isOpen;

    /// <summary>Why nothing comes any more; null while something may. What came before is taken first.</summary>
    public string? End => Volatile.Read(ref _pieceBytes) == 0 ? _end : null;

    public long PendingBytes => Volatile.Read(ref _pendingBytes);

    /// <summary>The handshake failed before the peer had sent a byte.</summary>
    public bool WasSilent { get; private set; }

    /// <summary>Ends a while after Close.</summary>
    public Task Run => _run.Task;

    public bool HasPiece => Volatile.Read(ref _pieceBytes) > 0;

    public void Begin()
    {
        _thread.Enter();
        _thread.Schedule(static one => _ = ((TlsConnection)one!).RunAsync(), this);
    }

    public void Send(byte[] bytes)
    {
        Interlocked.Add(ref _pendingBytes, bytes.Length);
        _output.Enqueue(bytes);
        Nudge();
    }

    /// <summary>What came; the memory is valid until Release.</summary>
    public ReadOnlySpan<byte> Piece => _piece.AsSpan(0, Volatile.Read(ref _pieceBytes));

    public void Release()
    {
        Volatile.Write(ref _pieceBytes, 0);
        Nudge();
    }

    /// <summary>Reads no more. What was queued is still sent.</summary>
    public void Close()
    {
        _isClosing = true;
        Nudge();
    }

    private void Nudge()
    {
        if (Interlocked.Exchange(ref _isNudged, 1) == 0)
        {
            _thread.Schedule(static one => ((TlsConnection)one!).OnNudged(), this);
        }
    }

    private void OnNudged()
    {
        // First, so that what comes from here on nudges again.
        Interlocked.Exchange(ref _isNudged, 0);
        _given.Set();
        _taken.Set();
        if (_isClosing && !_closed.Task.IsCompleted)
        {
            // The second ends what is left, within the call.
            if (!_isOpen)
            {
                _handshake.Cancel();
            }

            _closed.SetResult();
        }
    }

    // Of the handshake, or of what remains to be done after Close.
    private void OnLimit()
    {
        if (_isOpen)
        {
            _pipes!.Close();
        }
        else
        {
            _handshake.Cancel();
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
            _thread.Cancel(_limit);
            _pipes?.Close();
            _socket.Dispose();
            if (tls is not null)
            {
                await tls.DisposeAsync().ConfigureAwait(false);
            }

            _handshake.Dispose();
            _thread.Leave();
            _run.SetResult();
        }
    }

    private async Task<SslStream?> ShakeHandsAsync()
    {
        FirstBytesStream? beneath = null;
        SslStream? tls = null;
        var limit = _handshake.Token;
        _thread.Schedule(_limit, HandshakeLimit);
        try
        {
            limit.ThrowIfCancellationRequested();
            _pipes = new SocketPipes(_thread, _socket);
            await _side.ConnectAsync(_pipes, limit).ConfigureAwait(false);
            beneath = new FirstBytesStream(_pipes.Incoming, _pipes.Outgoing);
            tls = new SslStream(beneath);
            var known = await _credentials.ReadAsync().WaitAsync(limit).ConfigureAwait(false);
            await _side.AuthenticateAsync(tls, known, limit).ConfigureAwait(false);
            _thread.Cancel(_limit);
            _isOpen = true;
            return tls;
        }
        catch (Exception failure)
        {
            // Whatever it is: the stream ends by what is said here alone.
            _thread.Cancel(_limit);
            if (beneath is { IsForeign: true } && _side is TlsServerSide)
            {
                // So that the peer can notify its user. It sent more than this.
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
        catch (Exception broken)
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
            if (read > 0 && !_isClosing)
            {
                _hasRead = true;
                _piece = piece;
                Volatile.Write(ref _pieceBytes, read);
                _post();
                while (HasPiece && !_isClosing)
                {
                    await _taken.WaitAsync().ConfigureAwait(false);
                }

                Volatile.Write(ref _pieceBytes, 0);
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
        try
        {
            // Nothing is given after the close.
            bool isLast = false;
            while (!isLast)
            {
                isLast = _isClosing;
                await WriteGivenAsync(tls).ConfigureAwait(false);
                if (!isLast)
                {
                    await _given.WaitAsync().ConfigureAwait(false);
                }
            }
        }
        catch (Exception broken) when (IsOfNetwork(broken))
        {
            // The reader finds the same. Where it does not, it is not waited for.
            _thread.Schedule(_limit, LingerLimit);
        }
    }

    // Small pieces go together: each write is a record of its own.
    private async Task WriteGivenAsync(SslStream tls)
    {
        if (_output.IsEmpty)
        {
            return;
        }

        byte[] gathered = ArrayPool<byte>.Shared.Rent(PieceBytes);
        try
        {
            while (_output.TryDequeue(out byte[]? next))
            {
                int bytes = Gather(next, gathered.AsSpan(0, PieceBytes));
                await tls.WriteAsync(bytes > 0 ? gathered.AsMemory(0, bytes) : next).ConfigureAwait(false);
                Interlocked.Add(ref _pendingBytes, -(bytes > 0 ? bytes : next.Length));
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(gathered);
        }
    }

    // How many bytes of this piece and of those behind it are together now; 0 if it is too large for that.
    private int Gather(byte[] next, Span<byte> gathered)
    {
        int bytes = 0;
        while (next.Length <= gathered.Length - bytes)
        {
            next.CopyTo(gathered[bytes..]);
            bytes += next.Length;
            if (!_output.TryPeek(out byte[]? following) || following.Length > gathered.Length - bytes)
            {
                break;
            }

            _output.TryDequeue(out next!);
        }

        return bytes;
    }

    // What the peer still sends is read and dropped: unread bytes at the close would make the system reset the connection, and lose what
    // was sent last.
    private async Task SayLastWordsAsync(SslStream tls, Task reading, Task writing)
    {
        _thread.Schedule(_limit, LingerLimit);
        try
        {
            await writing.ConfigureAwait(false);
            await tls.ShutdownAsync().ConfigureAwait(false);
            await _pipes!.FinishAsync().ConfigureAwait(false);
            await reading.ConfigureAwait(false);
        }
        catch (Exception broken) when (IsOfNetwork(broken))
        {
            // Closed is closed; a user that needs an answer waits for it before closing.
        }

        _pipes!.Close();
        await Task.WhenAll(reading, writing).ConfigureAwait(false);
    }

    private static bool IsOfNetwork(Exception failure) => failure
        is IOException or SocketException or AuthenticationException or ObjectDisposedException or InvalidOperationException
        or System.ComponentModel.Win32Exception or System.Security.Cryptography.CryptographicException;
}
