using QuickSilver.Core.Buffers;

namespace QuickSilver.Core.Tests.Buffers;

public sealed unsafe class AddressSpaceTests
{
    [Fact]
    public void A_slab_is_whole_pages_of_2_MiB_outside_the_heap_and_keeps_its_bytes_when_it_asks_for_such_pages()
    {
        var slab = Slab.Reserved(AddressSpace.PieceBytes);
        slab.GetSpan().Fill(7);

        bool isAdvised = AddressSpace.AdviseHugePages(slab.First, (nuint)slab.Length);

        bool hasHugePages = OperatingSystem.IsLinux() && File.Exists("/sys/kernel/mm/transparent_hugepage/enabled");
        Assert.Equal(hasHugePages, isAdvised);
        Assert.True(!OperatingSystem.IsLinux() || (nuint)slab.First % AddressSpace.HugePageBytes == 0);
        Assert.Equal(-1, slab.GetSpan().IndexOfAnyExcept((byte)7));
        Assert.False(System.Runtime.InteropServices.MemoryMarshal.TryGetArray<byte>(slab.Memory, out _));
        GC.KeepAlive(slab);
    }

    [Fact]
    public void Memory_given_back_reads_as_zeros_and_can_be_written_again()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Only Linux takes pages back.");
        var slab = Slab.Reserved(AddressSpace.PieceBytes);
        slab.GetSpan().Fill(7);

        slab.Discard();

        Assert.Equal(-1, slab.GetSpan().IndexOfAnyExcept((byte)0));
        slab.GetSpan()[^1] = 1;
        Assert.Equal(1, slab.GetSpan()[^1]);
        GC.KeepAlive(slab);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Memory_of_a_slab_shows_the_bytes_of_its_span(bool isReserved)
    {
        const int Length = 1000;
        var slab = isReserved ? Slab.Reserved(Length) : Slab.Pinned(Length);
        Random.Shared.NextBytes(slab.GetSpan());

        Assert.Equal(slab.GetSpan().ToArray(), slab.MemoryOf(0, Length).ToArray());
        Assert.Equal(slab.Slice(10, 20).ToArray(), slab.MemoryOf(10, 20).ToArray());
        Assert.Equal(slab.GetSpan()[^1], *((byte*)slab.MemoryOf(Length - 1, 1).Pin().Pointer));
        Assert.True(slab.Slice(Length, 0).IsEmpty);
        Assert.Throws<ArgumentOutOfRangeException>(() => slab.Slice(Length - 1, 2).Length);
        Assert.Throws<ArgumentOutOfRangeException>(() => slab.Slice(-1, 1).Length);
        Assert.Throws<ArgumentOutOfRangeException>(() => slab.Slice(1, -1).Length);
        Assert.Throws<ArgumentOutOfRangeException>(() => Slab.Reserved(AddressSpace.PieceBytes + 1));
    }
}
