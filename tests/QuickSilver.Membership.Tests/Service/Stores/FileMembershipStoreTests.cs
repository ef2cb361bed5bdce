using QuickSilver.Membership.Service.Stores;

namespace QuickSilver.Membership.Tests.Service.Stores;

public sealed class FileMembershipStoreTests : MembershipStoreContract, IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory().FullName;

    private string File => Path.Combine(_folder, "epoch");

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task A_file_that_holds_no_epoch_says_so()
    {
        var store = FileMembershipStore.TryAcquire(File)!;
        System.IO.File.WriteAllText(File, "gibberish");
        Assert.Throws<InvalidDataException>(() => store.LoadEpoch());
        await store.ReleaseAsync();
        Assert.Throws<DirectoryNotFoundException>(() => FileMembershipStore.TryAcquire(Path.Combine(_folder, "none", "epoch")));
    }

    [Fact]
    public async Task A_file_is_durable_only_when_its_directory_was_flushed_after_the_move()
    {
        var flushed = new List<(string Directory, string Epoch)>();
        var store = FileMembershipStore.TryAcquire(File, at => flushed.Add((at, System.IO.File.ReadAllText(File))))!;
        store.SaveEpoch(12);
        store.SaveEpoch(13);
        Assert.Equal([(_folder, "12\n"), (_folder, "13\n")], flushed);
        Assert.Equal([File, File + ".lock"], Directory.GetFiles(_folder).Order(StringComparer.Ordinal));
        await store.ReleaseAsync();
        var broken = FileMembershipStore.TryAcquire(File, _ => throw new IOException("no"))!;
        Assert.Throws<IOException>(() => broken.SaveEpoch(14));
        await broken.ReleaseAsync();
    }

    [Fact]
    public async Task A_server_that_gave_the_file_up_does_not_overwrite_what_the_next_one_saved()
    {
        var first = FileMembershipStore.TryAcquire(File)!;
        await first.ReleaseAsync();
        var second = FileMembershipStore.TryAcquire(File)!;
        second.SaveEpoch(7);
        Assert.Throws<IOException>(() => first.SaveEpoch(1));
        Assert.Equal(7, second.LoadEpoch());
        await second.ReleaseAsync();
    }

    [Fact]
    public async Task A_file_in_the_current_directory_has_a_directory_to_flush()
    {
        string name = Path.GetRandomFileName();
        try
        {
            string? flushed = null;
            var store = FileMembershipStore.TryAcquire(name, at => flushed = at)!;
            store.SaveEpoch(1);
            await store.ReleaseAsync();
            Assert.Equal(Directory.GetCurrentDirectory(), flushed);
        }
        finally
        {
            System.IO.File.Delete(name);
            System.IO.File.Delete(name + ".lock");
        }
    }

    [Fact]
    public async Task A_full_disk_is_distinguished_from_other_failures_and_the_epoch_before_stays()
    {
        Assert.SkipUnless(System.IO.File.Exists("/dev/full"), "This system has no device that is always full.");
        var store = FileMembershipStore.TryAcquire(File)!;
        store.SaveEpoch(7);
        System.IO.File.CreateSymbolicLink(File + ".new", "/dev/full");
        Assert.True(FileMembershipStore.IsDiskFull(Assert.ThrowsAny<IOException>(() => store.SaveEpoch(8))));
        Assert.Equal(7, store.LoadEpoch());
        System.IO.File.Delete(File + ".new");
        store.SaveEpoch(9);
        Assert.Equal(9, store.LoadEpoch());
        await store.ReleaseAsync();
        Assert.False(FileMembershipStore.IsDiskFull(Assert.ThrowsAny<IOException>(() => store.SaveEpoch(10))));
    }

    private protected override Task<IMembershipStore?> TryAcquireAsync(string server) =>
        Task.FromResult<IMembershipStore?>(FileMembershipStore.TryAcquire(File));
}
