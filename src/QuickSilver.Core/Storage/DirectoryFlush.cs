using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace QuickSilver.Core.Storage;

// A file that was created is found again after a loss of power only when its directory was flushed as well. On Windows the file
// system's own journal does that.
internal static partial class DirectoryFlush
{
    private const int LinuxCloseOnExec = 0x80000;
    private const int MacCloseOnExec = 0x1000000;

    public static void Of(string directory)
    {
        if (OperatingSystem.IsLinux())
        {
            Flush(directory, LinuxCloseOnExec);
        }
        else if (OperatingSystem.IsMacOS())
        {
            Flush(directory, MacCloseOnExec);
        }
    }

    [UnsupportedOSPlatform("windows")]
    private static void Flush(string directory, int flags)
    {
        using var handle = open(directory, flags);
        if (handle.IsInvalid)
        {
            int error = Marshal.GetLastPInvokeError();
            throw new IOException(Marshal.GetPInvokeErrorMessage(error), error);
        }

        FileFlush.OfDescriptor(handle);
    }

    [UnsupportedOSPlatform("windows")]
    [LibraryImport("libc", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial SafeFileHandle open(string path, int flags);
}
