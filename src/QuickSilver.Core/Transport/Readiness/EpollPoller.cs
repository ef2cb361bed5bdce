using System.Buffers.Binary;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace QuickSilver.Core.Transport.Readiness;

// epoll, level-triggered, and an eventfd for wakes. An event carries the index of the source; the lists are touched by
// the core thread only.
[SupportedOSPlatform("linux")]
internal sealed unsafe class EpollPoller : ReadyPoller
{
    private const int MaxEvents = 64;
    private const int NonBlocking = 0x800;
    private const int Add = 1;
    private const int Delete = 2;
    private const int Modify = 3;
    private const ulong WakeMark = ulong.MaxValue;

    // The kernel packs struct epoll_event on x86-64 only.
    private static readonly int DataOffset = RuntimeInformation.ProcessArchitecture == Architecture.X64 ? 4 : 8;
    private static readonly int EventBytes = DataOffset + 8;

    private readonly SafeFileHandle _epoll;
    private readonly SafeFileHandle _wake;
    private readonly byte[] _events = GC.AllocateArray<byte>(MaxEvents * 16, pinned: true);
    private readonly List<CompletionSource?> _sources = [];
    private readonly Stack<int> _freeIndexes = new();
    private readonly Dictionary<Socket, int> _indexes = [];
    private readonly bool _isPreciseWaitOffered;

    public EpollPoller()
    {
        _epoll = Checked(LinuxCalls.epoll_create1(LinuxCalls.CloseOnExec), "epoll_create1");
        _wake = Checked(LinuxCalls.eventfd(0, LinuxCalls.CloseOnExec | NonBlocking), "eventfd");
        Control(Add, (int)_wake.DangerousGetHandle(), WakeMark, Interest.Read);
        _isPreciseWaitOffered = IsPreciseWaitOffered();
    }

    public override string Name => "epoll";

    internal override void Register(Socket socket, CompletionSource source, Interest interest)
    {
        if (!_freeIndexes.TryPop(out int index))
        {
            index = _sources.Count;
            _sources.Add(null);
        }

        try
        {
            Control(Add, (int)socket.Handle, (ulong)index, interest);
        }
        catch
        {
            _freeIndexes.Push(index);
            throw;
        }

        _indexes.Add(socket, index);
        _sources[index] = source;
    }

    internal override void Change(Socket socket, Interest interest) =>
        Control(Modify, (int)socket.Handle, (ulong)_indexes[socket], interest);

    internal override void Unregister(Socket socket)
    {
        if (_indexes.Remove(socket, out int index))
        {
            Control(Delete, (int)socket.Handle, 0, Interest.None);
            _sources[index] = null;
            _freeIndexes.Push(index);
        }
    }

    protected override int WaitReady(TimeSpan timeout, Span<CompletionSource> ready)
    {
        int count = WaitEvents(timeout, Math.Min(MaxEvents, ready.Length));
        int filled = 0;
        for (int i = 0; i < count; i++)
        {
            ulong data = BinaryPrimitives.ReadUInt64LittleEndian(_events.AsSpan((i * EventBytes) + DataOffset));
            if (data == WakeMark)
            {
                TakeWakes();
            }
            else if (_sources[(int)data] is { } source)
            {
                ready[filled++] = source;
            }
        }

        return filled;
    }

    public override void WaitForWake(TimeSpan timeout)
    {
        if (WaitReadable(_wake, timeout))
        {
            TakeWakes();
        }
    }

    public override void Wake()
    {
        ulong one = 1;
        try
        {
            // A full counter (EAGAIN) is a wake that is already there.
            LinuxCalls.write(_wake, &one, sizeof(ulong));
        }
        catch (ObjectDisposedException)
        {
            // Nothing waits any more.
        }
    }

    public override void Dispose()
    {
        _wake.Dispose();
        _epoll.Dispose();
    }

    private int WaitEvents(TimeSpan timeout, int maxEvents)
    {
        int count;
        fixed (byte* events = _events)
        {
            if (timeout <= TimeSpan.Zero)
            {
                int milliseconds = timeout == Timeout.InfiniteTimeSpan ? -1 : 0;
                count = LinuxCalls.epoll_wait(_epoll, events, maxEvents, milliseconds);
            }
            else if (_isPreciseWaitOffered)
            {
                var limit = LinuxCalls.TimeSpec.From(timeout);
                count = LinuxCalls.epoll_pwait2(_epoll, events, maxEvents, &limit, null);
            }
            else
            {
                // Kernels before 5.11 wait in whole milliseconds; an epoll descriptor can itself be polled, and precisely.
                count = WaitReadable(_epoll, timeout) ? LinuxCalls.epoll_wait(_epoll, events, maxEvents, 0) : 0;
            }
        }

        // An interrupted wait has brought nothing; the caller looks at its queues and comes back.
        return count >= 0 || Marshal.GetLastPInvokeError() == LinuxCalls.EINTR ? Math.Max(count, 0) : throw Failure("epoll_wait");
    }

    private static bool WaitReadable(SafeFileHandle handle, TimeSpan timeout)
    {
        var descriptor = new LinuxCalls.PollDescriptor { Descriptor = (int)handle.DangerousGetHandle(), Events = (short)Interest.Read };
        var limit = LinuxCalls.TimeSpec.From(timeout < TimeSpan.Zero ? TimeSpan.Zero : timeout);
        return LinuxCalls.ppoll(&descriptor, 1, timeout == Timeout.InfiniteTimeSpan ? null : &limit, null) > 0;
    }

    private void TakeWakes()
    {
        ulong wakes;
        LinuxCalls.read(_wake, &wakes, sizeof(ulong));
    }

    private void Control(int operation, int descriptor, ulong data, Interest interest)
    {
        Span<byte> epollEvent = stackalloc byte[16];
        BinaryPrimitives.WriteUInt32LittleEndian(epollEvent, (uint)interest);
        BinaryPrimitives.WriteUInt64LittleEndian(epollEvent[DataOffset..], data);
        fixed (byte* pointer = epollEvent)
        {
            if (LinuxCalls.epoll_ctl(_epoll, operation, descriptor, pointer) != 0)
            {
                throw Failure("epoll_ctl");
            }
        }
    }

    private bool IsPreciseWaitOffered()
    {
        try
        {
            var zero = default(LinuxCalls.TimeSpec);
            fixed (byte* events = _events)
            {
                return LinuxCalls.epoll_pwait2(_epoll, events, 1, &zero, null) >= 0;
            }
        }
        catch (EntryPointNotFoundException)
        {
            return false;
        }
    }

    private static SafeFileHandle Checked(SafeFileHandle handle, string call) => handle.IsInvalid ? throw Failure(call) : handle;

    private static TransportException Failure(string call) =>
        new($"{call} failed: {Marshal.GetPInvokeErrorMessage(Marshal.GetLastPInvokeError())}.");
}
