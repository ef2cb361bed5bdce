using QuickSilver.Core.Buffers;

namespace QuickSilver.Core.Tests.Buffers;

public sealed class HugePagesTests
{
    private const int PageBytes = 2 << 20;

    [Fact]
    public void What_lies_in_whole_pages_is_asked_for_and_nothing_of_the_bytes_changes()
    {
        var slab = GC.AllocateUninitializedArray<byte>(4 * PageBytes, pinned: true);
        slab.AsSpan().Fill(7);

        long advised = HugePages.Advise(slab);

        bool hasHugePages = OperatingSystem.IsLinux() && File.Exists("/sys/kernel/mm/transparent_hugepage/enabled");
        Assert.Equal(hasHugePages, advised > 0);
        Assert.Equal(0, advised % PageBytes);
        Assert.InRange(advised, hasHugePages ? 3 * PageBytes : 0, slab.Length);
        Assert.Equal(-1, slab.AsSpan().IndexOfAnyExcept((byte)7));
    }

    [Fact]
    public void Nothing_is_asked_for_in_an_array_that_holds_no_whole_page() =>
        Assert.Equal(0, HugePages.Advise(GC.AllocateUninitializedArray<byte>(PageBytes - 1, pinned: true)));
}
