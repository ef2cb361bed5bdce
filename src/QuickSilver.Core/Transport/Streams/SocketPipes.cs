using System.Buffers;
using System.IO.Pipelines;
using System.Net;
using System.Net.Sockets;

namespace QuickSilver.Core.Transport.Streams;

// A TCP socket as two pipes, on a stream thread: what comes is written to one, and what is written to the other is sent. Pipes give what
// TLS needs between it and a socket that is never waited for: reads of a part, waits that a token ends, and back pressure. A reader that is
// behind has the receiving paused, so TCP holds the peer back; a writer waits for a socket that takes no more.
//
// Invariants: all calls are the stream thread's. An idle stream has no memory in its pipes. Nothing throws for what the network does: a
// pipe ends with an IOException then.
internal sealed class SocketPipes : StreamSource
{
    private readonly StreamThread _thread;
    private readonly Socket _socket;
    private readonly IStreamSocket _operations;
    private readonly Pipe _incoming;
    private readonly Pipe _outgoing;
    private readonly Signal _ready = new();
    private Task _sending = Task.CompletedTask;
    // False while the reader is behind, and when nothing comes any more.
    private bool _isReceiving;
    private bool _isClosed;

    /// <param name="thread">Whose pipes these are.</param>
    /// <param name="socket">Connected, or to be; it is these pipes' from here on.</param>
    public SocketPipes(StreamThread thread, Socket socket)
    {
        _thread = thread;
        _socket = socket;
        _incoming = new Pipe(thread.Pipes);
        _outgoing = new Pipe(thread.Pipes);
        _operations = thread.Poller.OpenStream(socket, this);
    }

    public PipeReader Incoming => _incoming.Reader;

    public PipeWriter Outgoing => _outgoing.Writer;

    public override bool IsClosed => _isClosed;

    /// <summary>Connects, from this address if there is one. The token is cancelled on the stream thread.</summary>
    /// <exception cref="SocketException">The network refuses.</exception>
    /// <exception cref="OperationCanceledException">It takes too long.</exception>
    public async Task ConnectAsync(IPEndPoint? from, IPEndPoint to, CancellationToken limit)
    {
        using var registration = limit.UnsafeRegister(static ready => ((Signal)ready!).Set(), _ready);
        _operations.Connect(from, to);
        SocketError error;
        while (!_operations.TryTakeConnected(out error))
        {
            limit.ThrowIfCancellationRequested();
            await _ready.WaitAsync().ConfigureAwait(false);
        }

        if (error != SocketError.Success)
        {
            throw new SocketException((int)error);
        }

        Begin();
    }

    /// <summary>The socket is connected: receives and sends from here on.</summary>
    public void Begin()
    {
        _isReceiving = true;
        _sending = SendAllAsync();
    }

    /// <summary>Sends what was written, and then notifies the peer that no more comes. The peer may still send.</summary>
    public async Task FinishAsync()
    {
        _outgoing.Writer.Complete();
        await _sending.ConfigureAwait(false);
        if (!_isClosed)
        {
            _socket.Shutdown(SocketShutdown.Send);
        }
    }

    public override void OnReady()
    {
        if (!_isClosed)
        {
            _ready.Set();
        }

        if (!_isClosed && _isReceiving)
        {
            Receive();
        }
    }

    /// <summary>Closes the socket. A wait at a pipe ends with an IOException.</summary>
    public void Close()
    {
        if (!_isClosed)
        {
            _isClosed = true;
            _isReceiving = false;
            _operations.Close();
            _socket.Dispose();
            var closed = Failure(SocketError.OperationAborted);
            _incoming.Writer.Complete(closed);
            _outgoing.Reader.CancelPendingRead();
            _ready.Set();
        }
    }

    public override string ToString() => "socket of a stream";

    // Once for each time that the poller names the socket: it names it again if there is more, after the others.
    private void Receive()
    {
        int received = _operations.Receive(_thread.Scratch, out var error);
        if (received > 0)
        {
            _incoming.Writer.Write(_thread.Scratch.AsSpan(0, received));
            var flush = _incoming.Writer.FlushAsync();
            if (!flush.IsCompletedSuccessfully)
            {
                PauseReceiving(isPaused: true);
                _ = ResumeAsync(flush);
            }
            else if (flush.GetAwaiter().GetResult().IsCompleted)
            {
                EndReceiving(null);
            }
        }
        else if (error != SocketError.WouldBlock)
        {
            EndReceiving(error == SocketError.Success ? null : Failure(error));
        }
    }

    private async Task ResumeAsync(ValueTask<FlushResult> flush)
    {
        var result = await flush.ConfigureAwait(false);
        if (!_isClosed)
        {
            PauseReceiving(isPaused: false);
            if (result.IsCompleted)
            {
                EndReceiving(null);
            }
        }
    }

    private void PauseReceiving(bool isPaused)
    {
        _isReceiving = !isPaused;
        _operations.PauseReceiving(isPaused);
    }

    private void EndReceiving(Exception? failure)
    {
        PauseReceiving(isPaused: true);
        _incoming.Writer.Complete(failure);
    }

    private async Task SendAllAsync()
    {
        Exception? failure = null;
        try
        {
            bool isLast = false;
            while (!isLast)
            {
                var read = await _outgoing.Reader.ReadAsync().ConfigureAwait(false);
                foreach (var piece in read.Buffer)
                {
                    await SendAsync(piece).ConfigureAwait(false);
                }

                _outgoing.Reader.AdvanceTo(read.Buffer.End);
                isLast = read.IsCompleted || read.IsCanceled;
            }
        }
        catch (IOException broken)
        {
            failure = broken;
        }

        _outgoing.Reader.Complete(_isClosed ? Failure(SocketError.OperationAborted) : failure);
    }

    private async Task SendAsync(ReadOnlyMemory<byte> piece)
    {
        while (!piece.IsEmpty)
        {
            var error = SocketError.OperationAborted;
            int sent = _isClosed ? 0 : _operations.Send(piece.Span, out error);
            if (error != SocketError.Success)
            {
                throw Failure(error);
            }

            piece = piece[sent..];
            if (!piece.IsEmpty)
            {
                await _ready.WaitAsync().ConfigureAwait(false);
            }
        }
    }

    private static IOException Failure(SocketError error)
    {
        var cause = new SocketException((int)error);
        return new IOException(cause.Message, cause);
    }
}
