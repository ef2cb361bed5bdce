using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace QuickSilver.Core.Transport.Overlapped;

[SupportedOSPlatform("windows")]
internal static unsafe partial class WindowsLibrary
{
    public const uint GetExtensionFunction = 0xC8000006;

    [LibraryImport("kernel32", SetLastError = true)]
    public static partial SafeFileHandle CreateIoCompletionPort(nint file, nint existingPort, nuint key, uint threads);

    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int GetQueuedCompletionStatusEx(
        SafeFileHandle port, OverlappedEntry* entries, uint count, uint* removed, uint milliseconds, int alertable);

    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int PostQueuedCompletionStatus(SafeFileHandle port, uint bytes, nuint key, OverlappedHeader* operation);

    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int SetFileCompletionNotificationModes(nint file, byte modes);

    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int CancelIoEx(nint file, OverlappedHeader* operation);

    [LibraryImport("ws2_32", SetLastError = true)]
    public static partial int WSARecv(
        nint socket, BufferPart* parts, uint count, uint* received, uint* flags, OverlappedHeader* operation, void* routine);

    [LibraryImport("ws2_32", SetLastError = true)]
    public static partial int WSASend(
        nint socket, BufferPart* parts, uint count, uint* sent, uint flags, OverlappedHeader* operation, void* routine);

    [LibraryImport("ws2_32", SetLastError = true)]
    public static partial int WSAGetOverlappedResult(nint socket, OverlappedHeader* operation, uint* bytes, int waits, uint* flags);

    [LibraryImport("ws2_32", SetLastError = true)]
    public static partial int WSAIoctl(
        nint socket, uint code, void* input, uint inputBytes, void* output, uint outputBytes, uint* returned,
        OverlappedHeader* operation, void* routine);
}
