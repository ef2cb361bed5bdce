using System.Diagnostics;
using System.Net.Sockets;
using QuickSilver.Core.Transport.Datagrams;

namespace QuickSilver.Core.Transport.Overlapped;

// A completion port: operations are under way at the system at all times, and their ends are taken from the port.
//
// THE CALLS BENEATH HAVE NEVER RUN: they were written to the system's documentation on a machine without Windows. What lies above them,
// here and in the overlapped sockets, runs in the tests over calls that behave as documented. So this poller is chosen only by name.
//
// Invariants:
// - An operation is in the table from its beginning until its entry was taken, with all that the system may write to.
// - An owner is in the list of those that are due while it has something to take.
internal sealed unsafe class CompletionPortPoller(IOverlappedCalls calls) : IPoller
{
    private const int MostEntries = 64;
    // For the ends of what was cancelled, in all.
    private const int EndingRounds = 100;
    private static readonly TimeSpan EndingRound = TimeSpan.FromMilliseconds(10);

    // What the system kept beyond the end of its poller: it may still write there.
    private static readonly List<OverlappedOperation> Kept = [];

    private readonly Dictionary<nint, OverlappedOperation> _underWay = [];
    private readonly List<IOverlappedOwner> _due = [];
    private readonly PostedSources _posted = new();

    public string Name => "completion port";

    internal IOverlappedCalls Calls => calls;

    /// <summary>Operations that the system has.</summary>
    internal int UnderWay => _underWay.Count;

    public PortSource Open(DatagramSocket port, IDatagramReceiver receiver)
    {
        calls.Associate(port.Socket);
        return new OverlappedPortSource(this, port, receiver);
    }

    public IStreamSocket OpenStream(Socket socket, CompletionSource source)
    {
        socket.Blocking = false;
        calls.Associate(socket);
        return new OverlappedStreamSocket(this, socket, source);
    }

    public IAcceptSocket OpenListener(Socket socket, CompletionSource source)
    {
        calls.Associate(socket);
        return new OverlappedAcceptSocket(this, socket, source);
    }

    public int Wait(TimeSpan timeout, CompletionSource[] completed)
    {
        ForgetServed();
        TakeEntries(_due.Count > 0 || !_posted.IsEmpty ? TimeSpan.Zero : timeout);
        int named = _posted.Take(completed);
        int due = Math.Min(_due.Count, completed.Length - named);
        for (int i = 0; i < due; i++)
        {
            completed[named++] = _due[i].Source;
        }

        // Those that are named go to the end, so that the others come first if not all can be named.
        if (due < _due.Count)
        {
            var first = _due.GetRange(0, due);
            _due.RemoveRange(0, due);
            _due.AddRange(first);
        }

        return named;
    }

    public void WaitForWake(TimeSpan timeout)
    {
        // What ends meanwhile waits to be named. No operation is begun here, so the port has an end.
        long began = Stopwatch.GetTimestamp();
        var left = timeout;
        while (_posted.IsEmpty && !TakeEntries(left))
        {
            left = timeout == Timeout.InfiniteTimeSpan ? timeout : timeout - Stopwatch.GetElapsedTime(began);
            if (left < TimeSpan.Zero && timeout != Timeout.InfiniteTimeSpan)
            {
                break;
            }
        }
    }

    public void Post(CompletionSource source)
    {
        _posted.Add(source);
        calls.Wake();
    }

    public void Wake() => calls.Wake();

    public void Dispose()
    {
        for (int round = 0; _underWay.Count > 0 && round < EndingRounds; round++)
        {
            TakeEntries(EndingRound);
        }

        if (_underWay.Count > 0)
        {
            lock (Kept)
            {
                Kept.AddRange(_underWay.Values);
            }

            _underWay.Clear();
        }

        calls.Dispose();
    }

    /// <summary>The owner has something to take, or to begin.</summary>
    internal void NoteDue(IOverlappedOwner owner)
    {
        if (!_due.Contains(owner))
        {
            _due.Add(owner);
        }
    }

    /// <summary>The operation is about to be given to the system.</summary>
    internal void Begin(OverlappedOperation operation)
    {
        operation.Begin();
        _underWay.Add((nint)operation.Header, operation);
    }

    /// <summary>What the system has answered. False: the operation has not begun. It may have ended.</summary>
    internal bool HasBegun(OverlappedOperation operation, SocketError answer)
    {
        if (answer == SocketError.IOPending)
        {
            return true;
        }

        _underWay.Remove((nint)operation.Header);
        if (answer == SocketError.Success)
        {
            operation.End((int)operation.Header->Bytes, SocketError.Success);
            return true;
        }

        operation.NotBegun();
        return false;
    }

    /// <summary>Nothing waits for the operation any more: its memory is freed when the system is done with it.</summary>
    internal void End(OverlappedOperation operation)
    {
        if (operation.IsUnderWay)
        {
            calls.Cancel(operation.Socket, operation.Header);
        }

        operation.Free();
    }

    private void ForgetServed()
    {
        if (_due.Count > 0)
        {
            _due.RemoveAll(static owner => !owner.IsDue);
        }
    }

    // Whether a wake was among them.
    private bool TakeEntries(TimeSpan timeout)
    {
        bool isWoken = false;
        var entries = stackalloc OverlappedEntry[MostEntries];
        int taken = calls.Take(entries, MostEntries, timeout);
        for (int i = 0; i < taken; i++)
        {
            ref var entry = ref entries[i];
            isWoken |= entry.Operation is null;
            if (entry.Operation is null || !_underWay.Remove((nint)entry.Operation, out var operation))
            {
                continue;
            }

            var error = entry.Status == 0 ? SocketError.Success : calls.ErrorOf(operation.Socket, entry.Operation);
            if (operation.End((int)entry.Bytes, error))
            {
                operation.Owner.OnEnded(operation);
                if (operation.Owner.IsDue)
                {
                    NoteDue(operation.Owner);
                }
            }
        }

        return isWoken;
    }
}
