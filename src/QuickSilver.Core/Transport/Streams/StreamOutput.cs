using System.Net.Sockets;

namespace QuickSilver.Core.Transport.Streams;

// What a stream has still to send: whole arrays that do not change, some of them other streams' too. Small ones are gathered, so that many
// messages of a turn go with one call.
internal sealed class StreamOutput(byte[] scratch)
{
    private readonly Queue<byte[]> _pieces = new();
    private long _pendingBytes;
    // Of the first piece.
    private int _sentBytes;

    /// <summary>From any thread.</summary>
    public long PendingBytes => Volatile.Read(ref _pendingBytes);

    public bool IsEmpty => _pieces.Count == 0;

    public void Add(byte[] piece)
    {
        _pieces.Enqueue(piece);
        Volatile.Write(ref _pendingBytes, _pendingBytes + piece.Length);
    }

    /// <summary>Sends until the system takes no more, or so many bytes are sent; how many it took.</summary>
    public int Send(IStreamSocket socket, int mostBytes, out SocketError error)
    {
        int all = 0;
        error = SocketError.Success;
        while (_pieces.Count > 0 && all < mostBytes && error == SocketError.Success)
        {
            var next = Next();
            int sent = socket.Send(next, out error);
            Consume(sent);
            all += sent;
            if (sent < next.Length)
            {
                break;
            }
        }

        return all;
    }

    /// <summary>What is left, for a sender in the stream's place.</summary>
    public Queue<ReadOnlyMemory<byte>> TakeRest()
    {
        var rest = new Queue<ReadOnlyMemory<byte>>(_pieces.Count);
        while (_pieces.TryDequeue(out byte[]? piece))
        {
            rest.Enqueue(piece.AsMemory(_sentBytes));
            _sentBytes = 0;
        }

        return rest;
    }

    private ReadOnlySpan<byte> Next()
    {
        var first = _pieces.Peek().AsSpan(_sentBytes);
        if (_pieces.Count == 1 || first.Length >= scratch.Length / 2)
        {
            return first;
        }

        int gathered = 0;
        int from = _sentBytes;
        foreach (byte[] piece in _pieces)
        {
            if (piece.Length - from > scratch.Length - gathered)
            {
                break;
            }

            piece.AsSpan(from).CopyTo(scratch.AsSpan(gathered));
            gathered += piece.Length - from;
            from = 0;
        }

        return scratch.AsSpan(0, gathered);
    }

    private void Consume(int bytes)
    {
        Volatile.Write(ref _pendingBytes, _pendingBytes - bytes);
        while (bytes > 0)
        {
            int left = _pieces.Peek().Length - _sentBytes;
            if (bytes < left)
            {
                _sentBytes += bytes;
                return;
            }

            bytes -= left;
            _sentBytes = 0;
            _pieces.Dequeue();
        }
    }
}
