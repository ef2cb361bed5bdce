using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Transport.Overlapped;

namespace QuickSilver.Core.Tests.Infrastructure;

// The overlapped calls as they are documented, over the sockets of this system: operations are tried whenever the port is asked, and write
// to the memory that they were given only then. What callers must not do is found here: to begin an operation twice, to use a socket that
// is not associated.
internal sealed unsafe class EmulatedPort : IOverlappedCalls
{
    private const nuint Failed = 1;
    private static readonly TimeSpan Round = TimeSpan.FromMilliseconds(1);

    private readonly object _gate = new();
    private readonly List<Operation> _underWay = [];
    private readonly Queue<(nint Header, nuint Status, int Bytes)> _entries = new();
    private readonly Dictionary<nint, SocketError> _errors = [];
    private readonly HashSet<Socket> _associated = [];
    private readonly Dictionary<Socket, Socket> _accepted = [];
    private int _wakes;
    private bool _isDisposed;

    // Operations that are tried: while false, none ends but those that are cancelled.
    public bool Works { get; set; } = true;

    // Entries are given out; while false those of cancelled operations stay, too.
    public bool Answers { get; set; } = true;

    // What the next call that begins an operation answers, once.
    public SocketError Refusal { get; set; }

    public int UnderWay
    {
        get
        {
            lock (_gate)
            {
                return _underWay.Count + _entries.Count;
            }
        }
    }

    public void Associate(Socket socket) => Assert.True(_associated.Add(socket), "The socket was associated twice.");

    public SocketError ReceiveMessage(Socket socket, OverlappedMessage* message, OverlappedHeader* operation)
    {
        Assert.Equal(1u, message->PartCount);
        Assert.True(message->Name is null && message->NameLength == 0);
        Assert.True((message->Control.Bytes is null) == (message->Control.Length == 0));
        return Begin(Kind.Receive, socket, operation, message->Parts);
    }

    public SocketError Receive(Socket socket, BufferPart* into, OverlappedHeader* operation) =>
        Begin(Kind.Receive, socket, operation, into);

    public SocketError Send(Socket socket, BufferPart* from, OverlappedHeader* operation) => Begin(Kind.Send, socket, operation, from);

    public SocketError Accept(Socket listener, Socket into, byte* addresses, OverlappedHeader* operation)
    {
        new Span<byte>(addresses, 128).Fill(1);
        return Begin(Kind.Accept, listener, operation, null, into);
    }

    public SocketError Connect(Socket socket, byte* address, int addressLength, OverlappedHeader* operation)
    {
        Assert.NotNull(socket.LocalEndPoint);
        var to = new SocketAddress(AddressFamily.InterNetwork, addressLength);
        new Span<byte>(address, addressLength).CopyTo(to.Buffer.Span);
        var endPoint = new IPEndPoint(IPAddress.Any, 0).Create(to);
        try
        {
            socket.Connect(endPoint);
        }
        catch (SocketException refusal) when (refusal.SocketErrorCode == SocketError.WouldBlock)
        {
        }
        catch (SocketException refusal)
        {
            return refusal.SocketErrorCode;
        }

        return Begin(Kind.Connect, socket, operation, null);
    }

    public Socket Accepted(Socket listener, Socket into)
    {
        into.Dispose();
        Assert.True(_accepted.Remove(into, out var accepted));
        return accepted;
    }

    public void Connected(Socket socket)
    {
    }

    public void Cancel(Socket socket, OverlappedHeader* operation)
    {
        lock (_gate)
        {
            int index = _underWay.FindIndex(under => under.Header == (nint)operation);
            if (index >= 0)
            {
                End(index, SocketError.OperationAborted, 0);
            }
        }
    }

    public SocketError ErrorOf(Socket socket, OverlappedHeader* operation)
    {
        lock (_gate)
        {
            Assert.True(_errors.Remove((nint)operation, out var error));
            return error;
        }
    }

    public int Take(OverlappedEntry* entries, int most, TimeSpan timeout)
    {
        long began = Stopwatch.GetTimestamp();
        lock (_gate)
        {
            while (true)
            {
                Progress();
                int taken = 0;
                while (taken < most && _wakes > 0)
                {
                    _wakes--;
                    entries[taken++] = default;
                }

                while (taken < most && Answers && _entries.TryDequeue(out var entry))
                {
                    entries[taken++] = new OverlappedEntry
                    {
                        Operation = (OverlappedHeader*)entry.Header,
                        Status = entry.Status,
                        Bytes = (uint)entry.Bytes,
                    };
                }

                var left = timeout == Timeout.InfiniteTimeSpan ? timeout : timeout - Stopwatch.GetElapsedTime(began);
                if (taken > 0 || (left <= TimeSpan.Zero && timeout != Timeout.InfiniteTimeSpan))
                {
                    return taken;
                }

                bool isLast = timeout != Timeout.InfiniteTimeSpan && left < Round;
                Monitor.Wait(_gate, isLast ? left : Round);
            }
        }
    }

    public void Wake()
    {
        lock (_gate)
        {
            if (!_isDisposed)
            {
                _wakes++;
                Monitor.PulseAll(_gate);
            }
        }
    }

    public void Dispose() => _isDisposed = true;

    private SocketError Begin(Kind kind, Socket socket, OverlappedHeader* header, BufferPart* part, Socket? into = null)
    {
        lock (_gate)
        {
            Assert.Contains(socket, _associated);
            Assert.DoesNotContain(_underWay, under => under.Header == (nint)header);
            if (Refusal != SocketError.Success)
            {
                var refusal = Refusal;
                Refusal = SocketError.Success;
                return refusal;
            }

            bool isFirst = !_underWay.Exists(under => under.Socket == socket && under.Kind == kind);
            _underWay.Add(new Operation(kind, socket, (nint)header, (nint)part, into));
            bool isEnded = Works && isFirst && Try(_underWay.Count - 1, _underWay[^1]) && TryTakeBack();
            return isEnded ? SocketError.Success : SocketError.IOPending;
        }
    }

    // What has ended well within its call has no entry.
    private bool TryTakeBack()
    {
        var last = _entries.Last();
        if (last.Status != 0)
        {
            return false;
        }

        var others = _entries.SkipLast(1).ToArray();
        _entries.Clear();
        Array.ForEach(others, _entries.Enqueue);
        return true;
    }

    private void Progress()
    {
        var stuck = new HashSet<(Socket, Kind)>();
        for (int i = 0; i < _underWay.Count;)
        {
            var operation = _underWay[i];
            bool isEnded = false;
            if (operation.Socket.SafeHandle.IsClosed)
            {
                End(i, SocketError.OperationAborted, 0);
                isEnded = true;
            }
            else if (Works && !stuck.Contains((operation.Socket, operation.Kind)))
            {
                isEnded = Try(i, operation);
            }

            if (!isEnded)
            {
                // What was begun later on the same socket ends later.
                stuck.Add((operation.Socket, operation.Kind));
                i++;
            }
        }
    }

    private bool Try(int index, Operation operation)
    {
        var part = (BufferPart*)operation.Part;
        SocketError error;
        switch (operation.Kind)
        {
            case Kind.Receive:
                int received = operation.Socket.Receive(new Span<byte>(part->Bytes, (int)part->Length), SocketFlags.None, out error);
                return error != SocketError.WouldBlock && End(index, error, received);
            case Kind.Send:
                var rest = new ReadOnlySpan<byte>(part->Bytes, (int)part->Length)[operation.Done..];
                operation.Done += operation.Socket.Send(rest, SocketFlags.None, out error);
                return (operation.Done == part->Length || error is not (SocketError.Success or SocketError.WouldBlock))
                    && End(index, error == SocketError.WouldBlock ? SocketError.Success : error, operation.Done);
            case Kind.Accept:
                if (!operation.Socket.Poll(0, SelectMode.SelectRead))
                {
                    return false;
                }

                _accepted[operation.Into!] = operation.Socket.Accept();
                return End(index, SocketError.Success, 0);
            default:
                return operation.Socket.Poll(0, SelectMode.SelectWrite) && End(
                    index, (SocketError)(int)operation.Socket.GetSocketOption(SocketOptionLevel.Socket, SocketOptionName.Error)!, 0);
        }
    }

    private bool End(int index, SocketError error, int bytes)
    {
        var operation = _underWay[index];
        _underWay.RemoveAt(index);
        // The system writes to the header at the end.
        ((OverlappedHeader*)operation.Header)->Bytes = (nuint)bytes;
        if (error != SocketError.Success)
        {
            _errors[operation.Header] = error;
        }

        _entries.Enqueue((operation.Header, error == SocketError.Success ? 0 : Failed, bytes));
        return true;
    }

    private enum Kind
    {
        Receive,
        Send,
        Accept,
        Connect,
    }

    private sealed class Operation(Kind kind, Socket socket, nint header, nint part, Socket? into)
    {
        public Kind Kind => kind;

        public Socket Socket => socket;

        public nint Header => header;

        public nint Part => part;

        public Socket? Into => into;

        public int Done { get; set; }
    }
}
