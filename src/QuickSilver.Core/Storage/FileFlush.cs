using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace QuickSilver.Core.Storage;

// Makes what was written to a file durable. On Linux by system calls of its own: the runtime takes a file system that has become read-only
// for one without flushes, and reports a flush that was refused as done. Elsewhere by the runtime, which on macOS flushes the disk's cache.
internal static partial class FileFlush
{
    private const int Interrupted = 4;
    private const int InvalidArgument = 22;

    /// <summary>The data and all that is known of the file.</summary>
    public static void All(SafeFileHandle file)
    {
        if (OperatingSystem.IsLinux())
        {
            OfDescriptor(file);
        }
        else
        {
            RandomAccess.FlushToDisk(file);
        }
    }

    /// <summary>The data, and the length if that has grown. Into a file that was long enough before, this writes no journal.</summary>
    public static void Data(SafeFileHandle file)
    {
        if (OperatingSystem.IsLinux())
        {
            while (fdatasync(file) != 0 && MayTryAgain())
            {
            }
        }
        else
        {
            RandomAccess.FlushToDisk(file);
        }
    }

    /// <summary>What lies behind a descriptor: a file or a directory.</summary>
    [UnsupportedOSPlatform("windows")]
    public static void OfDescriptor(SafeFileHandle descriptor)
    {
        while (fsync(descriptor) != 0 && MayTryAgain())
        {
        }
    }

    // False: there is nothing to flush. Devices and the directories of some file systems cannot be flushed.
    [UnsupportedOSPlatform("windows")]
    private static bool MayTryAgain()
    {
        int error = Marshal.GetLastPInvokeError();
        return error switch
        {
            Interrupted => true,
            InvalidArgument => false,
            _ => throw new IOException(Marshal.GetPInvokeErrorMessage(error), error),
        };
    }

    [UnsupportedOSPlatform("windows")]
    [LibraryImport("libc", SetLastError = true)]
    private static partial int fsync(SafeFileHandle descriptor);

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", SetLastError = true)]
    private static partial int fdatasync(SafeFileHandle descriptor);
}
