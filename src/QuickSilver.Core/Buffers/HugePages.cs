using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace QuickSilver.Core.Buffers;

// Packet memory is walked through from end to end, by the kernel too, which copies in and out of it: in pages of 4 KiB each
// packet costs misses of the address cache, and on a virtual machine each of those costs double. Where the system leaves the
// choice to the program, a large slab asks for pages of 2 MiB.
internal static unsafe partial class HugePages
{
    private const nuint PageBytes = 2 << 20;
    private const int Advice = 14;

    /// <summary>
    /// Asks for huge pages for what lies in the array in whole ones. How many bytes those are; 0 where the system has none, or
    /// refuses: nothing else changes then.
    /// </summary>
    public static long Advise(byte[] pinned)
    {
        if (!OperatingSystem.IsLinux())
        {
            return 0;
        }

        fixed (byte* bytes = pinned)
        {
            nuint first = ((nuint)bytes + PageBytes - 1) & ~(PageBytes - 1);
            nuint end = ((nuint)bytes + (nuint)pinned.Length) & ~(PageBytes - 1);
            return end > first && madvise((void*)first, end - first, Advice) == 0
                ? (long)(end - first)
                : 0;
        }
    }

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc")]
    private static partial int madvise(void* address, nuint length, int advice);
}
