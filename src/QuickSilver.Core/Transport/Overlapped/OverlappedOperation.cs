using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace QuickSilver.Core.Transport.Overlapped;

// One operation that can be under way at the system, again and again, and the memory that the system has meanwhile. The memory lies outside
// the managed heap.
//
//   Idle → UnderWay → Ended → Idle    Begin, End, Take
//   UnderWay → Idle                   NotBegun: the call was refused
//   any → Freed                       Free: at once, or when it has ended if it is under way
//
// Invariant: while it is UnderWay nothing of its memory is freed, given back or changed, whatever becomes of the socket. The poller holds
// it in its table for that time.
internal unsafe class OverlappedOperation(IOverlappedOwner owner, Socket socket, int extraBytes)
{
    private byte* _memory = (byte*)NativeMemory.AllocZeroed((nuint)(sizeof(OverlappedHeader) + extraBytes));
    private OperationState _state;
    private bool _isFreedAtEnd;

    private enum OperationState
    {
        Idle = 0,
        UnderWay,
        Ended,
        Freed,
    }

    public IOverlappedOwner Owner { get; } = owner;

    public Socket Socket { get; } = socket;

    public OverlappedHeader* Header => (OverlappedHeader*)_memory;

    /// <summary>Memory behind the header.</summary>
    public byte* Extra => _memory + sizeof(OverlappedHeader);

    public bool IsIdle => _state == OperationState.Idle;

    public bool IsUnderWay => _state == OperationState.UnderWay;

    public bool IsEnded => _state == OperationState.Ended;

    /// <summary>How many bytes were moved.</summary>
    public int Bytes { get; private set; }

    public SocketError Error { get; private set; }

    public void Begin()
    {
        Check(OperationState.Idle);
        *Header = default;
        _state = OperationState.UnderWay;
    }

    public void NotBegun()
    {
        Check(OperationState.UnderWay);
        _state = OperationState.Idle;
    }

    /// <summary>Its entry was taken. False: nothing waits for it any more.</summary>
    public bool End(int bytes, SocketError error)
    {
        Check(OperationState.UnderWay);
        _state = OperationState.Ended;
        Bytes = bytes;
        Error = error;
        if (_isFreedAtEnd)
        {
            Free();
            return false;
        }

        return true;
    }

    public void Take()
    {
        Check(OperationState.Ended);
        _state = OperationState.Idle;
    }

    public void Free()
    {
        if (_state == OperationState.UnderWay)
        {
            _isFreedAtEnd = true;
        }
        else if (_state != OperationState.Freed)
        {
            _state = OperationState.Freed;
            OnFreed();
            NativeMemory.Free(_memory);
            _memory = null;
        }
    }

    /// <summary>Gives back what else the system had.</summary>
    protected virtual void OnFreed()
    {
    }

    private void Check(OperationState expected)
    {
        if (_state != expected)
        {
            throw new InvalidOperationException($"An overlapped operation of {Owner} is {_state} and not {expected}.");
        }
    }
}

// Whose operations they are.
internal interface IOverlappedOwner
{
    /// <summary>The source that is named when there is something to take.</summary>
    CompletionSource Source { get; }

    /// <summary>Whether there is something to take, or to begin.</summary>
    bool IsDue { get; }

    /// <summary>An operation has ended, and was not freed.</summary>
    void OnEnded(OverlappedOperation operation);
}
