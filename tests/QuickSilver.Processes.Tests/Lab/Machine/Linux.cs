using System.Runtime.InteropServices;

namespace QuickSilver.Processes.Tests.Lab.Machine;

// The few calls of the kernel that .NET does not offer. Numbers are from the kernel's public headers and the same on
// x64 and arm64.
internal static partial class Linux
{
    public const int OpenReadOnly = 0;
    public const int OpenReadWrite = 2;
    public const int OpenNonBlocking = 0x800;
    public const int OpenCloseOnExec = 0x80000;
    public const int NetworkNamespace = 0x40000000;

    public const nuint TunSetInterface = 0x400454ca;
    public const nuint TunSetOffload = 0x400454d0;
    public const short TapDevice = 0x0002;
    public const short NoPacketInformation = 0x1000;
    public const short VirtioHeader = 0x4000;
    public const nuint OffloadChecksum = 0x01;

    // UDP runs of IPv4 and IPv6: the kernel takes them only together, from 6.2 on.
    public const nuint OffloadUdpRuns = 0x20 | 0x40;

    public const short PollIn = 1;

    [LibraryImport("libc", EntryPoint = "geteuid")]
    public static partial uint EffectiveUser();

    [LibraryImport("libc", EntryPoint = "setns", SetLastError = true)]
    public static partial int EnterNamespace(int file, int kind);

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int Open(string path, int flags);

    [LibraryImport("libc", EntryPoint = "close", SetLastError = true)]
    public static partial int Close(int file);

    [LibraryImport("libc", EntryPoint = "ioctl", SetLastError = true)]
    public static partial int Control(int file, nuint request, Span<byte> argument);

    [LibraryImport("libc", EntryPoint = "ioctl", SetLastError = true)]
    public static partial int Control(int file, nuint request, nuint argument);

    [LibraryImport("libc", EntryPoint = "read", SetLastError = true)]
    public static partial nint Read(int file, Span<byte> buffer, nuint count);

    [LibraryImport("libc", EntryPoint = "write", SetLastError = true)]
    public static partial nint Write(int file, ReadOnlySpan<byte> buffer, nuint count);

    [LibraryImport("libc", EntryPoint = "ppoll", SetLastError = true)]
    public static partial int Poll(Span<PollEntry> entries, nuint count, in TimeSpec timeout, nint signalMask);

    [LibraryImport("libc", EntryPoint = "kill", SetLastError = true)]
    public static partial int Kill(int process, int signal);

    // With 0, 0 it means the calling thread, although its name says process.
    [LibraryImport("libc", EntryPoint = "setpriority", SetLastError = true)]
    public static partial int SetPriority(int which, uint who, int priority);

    [StructLayout(LayoutKind.Sequential)]
    public struct PollEntry
    {
        public int File;
        public short Events;
        public short Returned;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct TimeSpec
    {
        public nint Seconds;
        public nint Nanoseconds;
    }
}
