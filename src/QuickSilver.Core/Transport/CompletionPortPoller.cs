using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace QuickSilver.Core.Transport;

// A completion port on Windows. THIS HAS NEVER RUN: it was written to the poller's contract on a machine without
// Windows, and is chosen only by name until it has passed the contract's tests there.
//
// A completion port tells of finished operations, the contract asks for readable sockets. The socket driver's poll
// request joins the two: it finishes, at the port, when the socket is readable, and takes nothing from it. One request is
// out per socket; it is renewed by the Wait after the one that reported it, which makes the reports level-triggered.
[SupportedOSPlatform("windows")]
internal sealed unsafe class CompletionPortPoller : IPoller
{
    private const int MaxEntries = 64;
    private const int BaseHandleQuery = 0x48000022;
    private const uint Synchronize = 0x00100000;
    private const uint ShareReadWrite = 3;
    private const uint OpenExisting = 1;

    private readonly SafeFileHandle _port;
    private readonly SafeFileHandle _driver;
    private readonly List<Watched> _watched = [];
    private readonly Dictionary<nint, Watched> _outstanding = [];

    public CompletionPortPoller()
    {
        _port = WindowsCalls.CreateIoCompletionPort(-1, 0, 0, 1);
        if (_port.IsInvalid)
        {
            throw new TransportException($"CreateIoCompletionPort failed: {Marshal.GetLastPInvokeErrorMessage()}.");
        }

        _driver = OpenDriver();
        // The same port comes back, already owned above; this handle object must not close it a second time.
        WindowsCalls.CreateIoCompletionPort(_driver.DangerousGetHandle(), _port.DangerousGetHandle(), 0, 0).SetHandleAsInvalid();
    }

    public string Name => "completion port";

    public void Register(Socket socket, IReadySource source)
    {
        var baseHandle = new byte[nint.Size];
        socket.IOControl(BaseHandleQuery, null, baseHandle);
        _watched.Add(new Watched(socket, source, MemoryMarshal.Read<nint>(baseHandle)));
    }

    public void Unregister(Socket socket)
    {
        int index = _watched.FindIndex(entry => ReferenceEquals(entry.Socket, socket));
        if (index < 0)
        {
            return;
        }

        var watched = _watched[index];
        _watched.RemoveAt(index);
        watched.IsForgotten = true;
        if (watched.IsOut)
        {
            // The memory is freed when the cancelled request comes back.
            WindowsCalls.IoStatus status;
            WindowsCalls.NtCancelIoFileEx(_driver, &watched.Operation->Status, &status);
        }
        else
        {
            watched.Free();
        }
    }

    public int Wait(TimeSpan timeout, IReadySource[] ready)
    {
        bool isAnyReady = false;
        foreach (var watched in _watched)
        {
            if (!watched.IsOut && !watched.IsReady)
            {
                Ask(watched);
            }

            isAnyReady |= watched.IsReady;
        }

        TakeCompletions(isAnyReady ? TimeSpan.Zero : timeout);
        int filled = 0;
        foreach (var watched in _watched)
        {
            if (watched.IsReady && filled < ready.Length)
            {
                watched.IsReady = false;
                ready[filled++] = watched.Source;
            }
        }

        return filled;
    }

    // Requests that are out already may end this wait early; none is renewed, so that happens once per socket at most.
    public void WaitForWake(TimeSpan timeout) => TakeCompletions(timeout);

    public void Wake()
    {
        try
        {
            WindowsCalls.PostQueuedCompletionStatus(_port, 0, 0, null);
        }
        catch (ObjectDisposedException)
        {
            // Nobody waits any more.
        }
    }

    public void Dispose()
    {
        while (_watched.Count > 0)
        {
            Unregister(_watched[^1].Socket);
        }

        // What the kernel may still write to is freed only once it has said that it is done.
        for (int attempt = 0; _outstanding.Count > 0 && attempt < 100; attempt++)
        {
            TakeCompletions(TimeSpan.FromMilliseconds(10));
        }

        _driver.Dispose();
        _port.Dispose();
    }

    private void Ask(Watched watched)
    {
        var operation = watched.Operation;
        *operation = default;
        operation->Status.Status = WindowsCalls.StatusPending;
        operation->Info.Timeout = long.MaxValue;
        operation->Info.HandleCount = 1;
        operation->Info.Handle = watched.BaseHandle;
        operation->Info.Events = WindowsCalls.PollReceive | WindowsCalls.PollAbort | WindowsCalls.PollLocalClose;

        uint length = (uint)sizeof(WindowsCalls.PollInfo);
        int status = WindowsCalls.NtDeviceIoControlFile(
            _driver, 0, null, operation, &operation->Status, WindowsCalls.PollRequest, &operation->Info, length, &operation->Info, length);
        if (status is not (0 or WindowsCalls.StatusPending))
        {
            throw new TransportException($"The socket driver refused to poll a socket: status 0x{status:X8}.");
        }

        // Also when it has finished at once, its completion comes through the port.
        watched.IsOut = true;
        _outstanding.Add((nint)operation, watched);
    }

    private void TakeCompletions(TimeSpan timeout)
    {
        var entries = stackalloc WindowsCalls.OverlappedEntry[MaxEntries];
        uint removed = 0;
        uint milliseconds = timeout == Timeout.InfiniteTimeSpan
            ? WindowsCalls.Infinite
            : (uint)Math.Clamp(Math.Ceiling(timeout.TotalMilliseconds), 0, int.MaxValue);
        if (!WindowsCalls.GetQueuedCompletionStatusEx(_port, entries, MaxEntries, &removed, milliseconds, 0))
        {
            int error = Marshal.GetLastPInvokeError();
            if (error != WindowsCalls.WaitTimeout)
            {
                throw new TransportException($"GetQueuedCompletionStatusEx failed: {Marshal.GetPInvokeErrorMessage(error)}.");
            }

            return;
        }

        for (int i = 0; i < removed; i++)
        {
            // An entry without an operation is a wake.
            if (entries[i].Overlapped != null && _outstanding.Remove((nint)entries[i].Overlapped, out var watched))
            {
                watched.IsOut = false;
                watched.IsReady = true;
                if (watched.IsForgotten)
                {
                    watched.Free();
                }
            }
        }
    }

    private static SafeFileHandle OpenDriver()
    {
        const string Path = @"\Device\Afd\QuickSilver";
        fixed (char* characters = Path)
        {
            var name = new WindowsCalls.UnicodeString
            {
                LengthBytes = (ushort)(Path.Length * sizeof(char)),
                MaximumLengthBytes = (ushort)(Path.Length * sizeof(char)),
                Characters = characters,
            };
            var attributes = new WindowsCalls.ObjectAttributes { LengthBytes = (uint)sizeof(WindowsCalls.ObjectAttributes), Name = &name };
            WindowsCalls.IoStatus status;
            int result = WindowsCalls.NtCreateFile(
                out var driver, Synchronize, &attributes, &status, null, 0, ShareReadWrite, OpenExisting, 0, null, 0);
            return result == 0 ? driver : throw new TransportException($"The socket driver cannot be opened: status 0x{result:X8}.");
        }
    }

    private sealed class Watched(Socket socket, IReadySource source, nint baseHandle)
    {
        public Socket Socket { get; } = socket;
        public IReadySource Source { get; } = source;
        public nint BaseHandle { get; } = baseHandle;
        public WindowsCalls.PollOperation* Operation { get; private set; } =
            (WindowsCalls.PollOperation*)NativeMemory.AllocZeroed((nuint)sizeof(WindowsCalls.PollOperation));
        public bool IsOut { get; set; }
        public bool IsReady { get; set; }
        public bool IsForgotten { get; set; }

        public void Free()
        {
            NativeMemory.Free(Operation);
            Operation = null;
        }
    }
}
