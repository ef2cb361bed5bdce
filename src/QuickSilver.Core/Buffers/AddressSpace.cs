using System.Collections.Concurrent;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace QuickSilver.Core.Buffers;

// Memory outside the collector's heap, in pieces of one size, for the packet memory of this process's nodes.
//
// Intuition: a piece is address space. The system gives a page when it is first touched, and Discard gives pages back. So what no node
// uses costs nothing, and the collector counts none of it against its limit.
//
// Invariant: a piece is never unmapped. A piece that returns waits for the next node. So a reader that kept bytes of a node that is gone
// reads zeros or other packets, and never ends the process. There are as many pieces as nodes needed at once, until a collection
// found that one of them is gone.
internal static unsafe partial class AddressSpace
{
    /// <summary>The size of a piece: as the least packet memory of a node.</summary>
    public const int PieceBytes = 32 << 20;

    public const int HugePageBytes = 2 << 20;

    private const int ReadWrite = 0x1 | 0x2;
    private const int PrivateAnonymousNoReserve = 0x02 | 0x20 | 0x4000;
    private const int DontNeed = 4;
    private const int HugePage = 14;

    private static readonly ConcurrentQueue<nint> Free = new();

    /// <summary>A piece, aligned to pages of 2 MiB. What is in it is undefined.</summary>
    /// <exception cref="InsufficientMemoryException">The system refuses more address space. The message contains its reason.</exception>
    public static byte* Take()
    {
        if (TryTake(out byte* piece, out _))
        {
            return piece;
        }

        // Where address space is limited, nodes that are gone may have all of it: their pieces return with their finalizers.
        GC.Collect();
        GC.WaitForPendingFinalizers();
        return TryTake(out piece, out string why) ? piece : throw new InsufficientMemoryException(why);
    }

    /// <summary>The piece is no node's any more. Its pages were given back.</summary>
    public static void Return(byte* piece) => Free.Enqueue((nint)piece);

    /// <summary>
    /// Gives the pages under these bytes back to the system; they read as zeros then. Does nothing where the system has no such call.
    /// </summary>
    public static void Discard(byte* first, nuint length)
    {
        if (OperatingSystem.IsLinux())
        {
            _ = madvise(first, length, DontNeed);
        }
    }

    /// <summary>
    /// Asks for pages of 2 MiB. Packet memory is walked through from end to end, by the kernel too, which copies in and out of it: in
    /// pages of 4 KiB each packet costs misses of the address cache, and on a virtual machine each of those costs double. False where
    /// the system has none, or refuses: nothing else changes then.
    /// </summary>
    public static bool AdviseHugePages(byte* first, nuint length) =>
        OperatingSystem.IsLinux() && madvise(first, length, HugePage) == 0;

    private static bool TryTake(out byte* piece, out string why)
    {
        why = "";
        if (Free.TryDequeue(out nint free))
        {
            piece = (byte*)free;
            return true;
        }

        if (OperatingSystem.IsLinux())
        {
            piece = Map();
            why = piece is null ? Marshal.GetPInvokeErrorMessage(Marshal.GetLastPInvokeError()) : "";
            return piece is not null;
        }

        try
        {
            piece = (byte*)NativeMemory.AlignedAlloc(PieceBytes, (nuint)System.Environment.SystemPageSize);
            return true;
        }
        catch (OutOfMemoryException exception)
        {
            piece = null;
            why = exception.Message;
            return false;
        }
    }

    // The system does not align to huge pages by itself, so what is before and behind the piece is mapped and goes again.
    [SupportedOSPlatform("linux")]
    private static byte* Map()
    {
        byte* mapped = mmap(null, PieceBytes + HugePageBytes, ReadWrite, PrivateAnonymousNoReserve, -1, 0);
        if (mapped == (byte*)-1)
        {
            return null;
        }

        byte* piece = (byte*)(((nuint)mapped + HugePageBytes - 1) & ~(nuint)(HugePageBytes - 1));
        nuint before = (nuint)(piece - mapped);
        Unmap(mapped, before);
        Unmap(piece + PieceBytes, HugePageBytes - before);
        return piece;
    }

    [SupportedOSPlatform("linux")]
    private static void Unmap(byte* first, nuint length)
    {
        if (length > 0)
        {
            _ = munmap(first, length);
        }
    }

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", SetLastError = true)]
    private static partial byte* mmap(void* address, nuint length, int protection, int flags, int descriptor, nint offset);

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc")]
    private static partial int munmap(void* address, nuint length);

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc")]
    private static partial int madvise(void* address, nuint length, int advice);
}
