using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace QuickSilver.Core.Transport;

// The few system calls that the managed sockets do not offer, or offer only with an exception per error. All arguments
// are blittable. Never SuppressGCTransition here: a call that blocks would hold up every collection of the process.
[SupportedOSPlatform("linux")]
internal static unsafe partial class LinuxCalls
{
    public const int EIO = 5;
    public const int EINTR = 4;
    public const int EAGAIN = 11;
    public const int ENOMEM = 12;
    public const int EINVAL = 22;
    public const int EMSGSIZE = 90;
    public const int EOPNOTSUPP = 95;
    public const int ENOBUFS = 105;

    public const int MsgDontWait = 0x40;
    public const int CloseOnExec = 0x80000;

    private const int SchedulingOther = 0;
    private const int SchedulingBatch = 3;

    [LibraryImport("libc", SetLastError = true)]
    public static partial nint sendto(int socket, byte* bytes, nint length, int flags, byte* address, int addressLength);

    [LibraryImport("libc", SetLastError = true)]
    public static partial nint recv(int socket, byte* bytes, nint length, int flags);

    [LibraryImport("libc", SetLastError = true)]
    public static partial int setsockopt(int socket, int level, int option, byte* value, int length);

    [LibraryImport("libc", StringMarshalling = StringMarshalling.Utf8)]
    public static partial uint if_nametoindex(string name);

    [LibraryImport("libc", SetLastError = true)]
    public static partial SafeFileHandle epoll_create1(int flags);

    [LibraryImport("libc", SetLastError = true)]
    public static partial int epoll_ctl(SafeFileHandle epoll, int operation, int descriptor, byte* epollEvent);

    [LibraryImport("libc", SetLastError = true)]
    public static partial int epoll_wait(SafeFileHandle epoll, byte* events, int maxEvents, int timeoutMilliseconds);

    [LibraryImport("libc", SetLastError = true)]
    public static partial int epoll_pwait2(SafeFileHandle epoll, byte* events, int maxEvents, TimeSpec* timeout, void* signalMask);

    [LibraryImport("libc", SetLastError = true)]
    public static partial int ppoll(PollDescriptor* descriptors, nuint count, TimeSpec* timeout, void* signalMask);

    [LibraryImport("libc", SetLastError = true)]
    public static partial SafeFileHandle eventfd(uint initial, int flags);

    [LibraryImport("libc", SetLastError = true)]
    public static partial nint read(SafeFileHandle descriptor, ulong* bytes, nint length);

    [LibraryImport("libc", SetLastError = true)]
    public static partial nint write(SafeFileHandle descriptor, ulong* bytes, nint length);

    // By way of pthreads, as the C library of small distributions refuses sched_setscheduler.
    [LibraryImport("libc")]
    private static partial int pthread_setschedparam(nint thread, int policy, int* priority);

    [LibraryImport("libc")]
    private static partial nint pthread_self();

    /// <summary>Whether the calling thread, when it is woken, waits for its turn instead of taking the processor at once.
    /// False where that is not allowed.</summary>
    public static bool TrySetBatch(bool isBatch)
    {
        int priority = 0;
        return pthread_setschedparam(pthread_self(), isBatch ? SchedulingBatch : SchedulingOther, &priority) == 0;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct TimeSpec
    {
        public nint Seconds;
        public nint Nanoseconds;

        public static TimeSpec From(TimeSpan span) => new()
        {
            Seconds = (nint)(span.Ticks / TimeSpan.TicksPerSecond),
            Nanoseconds = (nint)(span.Ticks % TimeSpan.TicksPerSecond * 100),
        };
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct PollDescriptor
    {
        public int Descriptor;
        public short Events;
        public short Returned;
    }
}
