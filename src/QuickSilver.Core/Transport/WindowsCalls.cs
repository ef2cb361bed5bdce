using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace QuickSilver.Core.Transport;

// Completion ports, and the socket driver's own poll request, which completes at one.
[SupportedOSPlatform("windows")]
internal static unsafe partial class WindowsCalls
{
    public const uint PollRequest = 0x00012024;
    public const int StatusPending = 0x103;
    public const uint WaitTimeout = 258;
    public const uint Infinite = uint.MaxValue;

    public const uint PollReceive = 0x0001;
    public const uint PollAbort = 0x0010;
    public const uint PollLocalClose = 0x0020;

    [LibraryImport("kernel32", SetLastError = true)]
    public static partial SafeFileHandle CreateIoCompletionPort(nint file, nint existingPort, nuint key, uint threads);

    [LibraryImport("kernel32", SetLastError = true)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool GetQueuedCompletionStatusEx(
        SafeFileHandle port, OverlappedEntry* entries, uint count, uint* removed, uint milliseconds, int alertable);

    [LibraryImport("kernel32", SetLastError = true)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool PostQueuedCompletionStatus(SafeFileHandle port, uint bytes, nuint key, void* overlapped);

    [LibraryImport("ntdll")]
    public static partial int NtCreateFile(
        out SafeFileHandle file, uint access, ObjectAttributes* attributes, IoStatus* status, long* allocation, uint fileAttributes,
        uint share, uint disposition, uint options, void* extended, uint extendedLength);

    [LibraryImport("ntdll")]
    public static partial int NtDeviceIoControlFile(
        SafeFileHandle file, nint completionEvent, void* apcRoutine, void* apcContext, IoStatus* status, uint code,
        void* input, uint inputLength, void* output, uint outputLength);

    [LibraryImport("ntdll")]
    public static partial int NtCancelIoFileEx(SafeFileHandle file, IoStatus* toCancel, IoStatus* status);

    [StructLayout(LayoutKind.Sequential)]
    public struct OverlappedEntry
    {
        public nuint Key;
        public void* Overlapped;
        public nuint Internal;
        public uint Bytes;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct IoStatus
    {
        public nint Status;
        public nuint Information;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct UnicodeString
    {
        public ushort LengthBytes;
        public ushort MaximumLengthBytes;
        public char* Characters;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct ObjectAttributes
    {
        public uint LengthBytes;
        public nint RootDirectory;
        public UnicodeString* Name;
        public uint Attributes;
        public void* SecurityDescriptor;
        public void* SecurityQuality;
    }

    // AFD_POLL_INFO with room for its one AFD_POLL_HANDLE_INFO.
    [StructLayout(LayoutKind.Sequential)]
    public struct PollInfo
    {
        public long Timeout;
        public uint HandleCount;
        public uint Exclusive;
        public nint Handle;
        public uint Events;
        public int Status;
    }

    // What the kernel writes to while a poll is out; lives outside the managed heap until its completion has come.
    [StructLayout(LayoutKind.Sequential)]
    public struct PollOperation
    {
        public IoStatus Status;
        public PollInfo Info;
    }
}
