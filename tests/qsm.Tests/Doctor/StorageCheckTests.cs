using QuickSilver.Core.Storage;
using QuickSilver.Tool.Doctor.Checks;
using QuickSilver.Tool.Doctor.Storage;

namespace QuickSilver.Tool.Tests.Doctor;

// What is found of a directory for logs, and how it is judged.
public sealed class StorageCheckTests : IDisposable
{
    private static readonly StorageFacts Good = new("/var/lib/orders", Refusal: null, Holder: null)
    {
        FileSystem = "ext4",
        FreeBytes = 8L << 30,
        SyncTime = TimeSpan.FromMilliseconds(0.5),
    };

    private readonly string _folder = Path.Combine(Path.GetTempPath(), "qs-" + Guid.NewGuid().ToString("N"));

    public void Dispose()
    {
        if (Directory.Exists(_folder))
        {
            Directory.Delete(_folder, recursive: true);
        }
    }

    [Fact]
    public void A_node_without_storage_is_not_checked()
    {
        Assert.Equal(FindingStatus.NotChecked, Assert.Single(StorageCheck.Of(StorageReader.Read(null))).Status);
    }

    [Fact]
    public void A_good_directory_is_shown_with_its_file_system_its_space_and_the_time_of_a_sync()
    {
        var finding = Assert.Single(StorageCheck.Of(Good));
        Assert.Equal((FindingStatus.Ok, "storage"), (finding.Status, finding.Check));
        Assert.Equal(
            "/var/lib/orders can be used. Its file system is ext4. 8 GiB are free. A write with a sync takes 0.50 ms.", finding.Text);
    }

    [Fact]
    public void A_directory_that_a_node_has_is_in_order_and_names_the_process()
    {
        var finding = Assert.Single(StorageCheck.Of(Good with { Holder = "process 4711 (orders) on web-3" }));
        Assert.Equal(FindingStatus.Ok, finding.Status);
        Assert.Contains("belongs to process 4711 (orders) on web-3", finding.Text, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("tmpfs", "in memory")]
    [InlineData("overlay", "Use a volume")]
    [InlineData("9p", "Use a local disk")]
    [InlineData("fuse", "Use a local disk")]
    public void A_file_system_that_may_not_keep_what_was_synced_is_a_warning(string kind, string said)
    {
        var finding = Assert.Single(StorageCheck.Of(Good with { FileSystem = kind }));
        Assert.Equal(FindingStatus.Warning, finding.Status);
        Assert.Contains(said, finding.Text, StringComparison.Ordinal);
    }

    [Fact]
    public void A_file_system_of_the_network_is_a_warning()
    {
        var finding = Assert.Single(StorageCheck.Of(Good with { FileSystem = "nfs", IsRemote = true }));
        Assert.Contains("nfs, which another system keeps", finding.Text, StringComparison.Ordinal);
    }

    [Fact]
    public void A_disk_that_is_slow_and_nearly_full_has_a_warning_for_each()
    {
        var findings = StorageCheck.Of(Good with { SyncTime = TimeSpan.FromMilliseconds(12), FreeBytes = 1 << 20 }).ToArray();
        Assert.Equal([FindingStatus.Warning, FindingStatus.Warning], findings.Select(static one => one.Status));
        Assert.Contains("1 MiB are free", findings[0].Text, StringComparison.Ordinal);
        Assert.Contains("A write with a sync takes 12.00 ms. Each message", findings[1].Text, StringComparison.Ordinal);
    }

    [Fact]
    public void Missing_permissions_have_a_command_that_gives_them()
    {
        var facts = new StorageFacts("/var/lib/my orders", "Cannot use it.", Holder: null) { LacksPermission = true };
        var finding = Assert.Single(StorageCheck.Of(facts));
        Assert.Equal(FindingStatus.Problem, finding.Status);
        Assert.EndsWith("'/var/lib/my orders'", Assert.Single(finding.Remedies).Command, StringComparison.Ordinal);
    }

    [Fact]
    public void A_directory_is_examined_without_a_trace()
    {
        Directory.CreateDirectory(_folder);
        var facts = StorageReader.Read(_folder)!;
        Assert.Equal((_folder, null, null, true), (facts.Path, facts.Refusal, facts.Holder, facts.Exists));
        Assert.True(facts.SyncTime > TimeSpan.Zero);
        Assert.True(facts.FreeBytes > 0);
        Assert.NotNull(facts.FileSystem);
        Assert.Empty(Directory.GetFileSystemEntries(_folder));
    }

    [Fact]
    public void A_directory_that_does_not_exist_is_judged_by_the_one_above_it_and_not_created()
    {
        Directory.CreateDirectory(_folder);
        var facts = StorageReader.Read(Path.Combine(_folder, "a", "b"))!;
        Assert.Null(facts.Refusal);
        Assert.False(facts.Exists);
        Assert.True(facts.SyncTime > TimeSpan.Zero);
        Assert.Empty(Directory.GetFileSystemEntries(_folder));
    }

    [Fact]
    public void A_directory_that_a_node_has_is_examined_beside_it()
    {
        using var claimed = StorageDirectory.Claim(_folder, "process 4711 (orders) on web-3");
        var facts = StorageReader.Read(_folder)!;
        Assert.Equal((null, "process 4711 (orders) on web-3"), (facts.Refusal, facts.Holder));
    }

    [Fact]
    public void A_file_in_place_of_the_directory_or_above_it_is_a_problem()
    {
        Directory.CreateDirectory(_folder);
        string file = Path.Combine(_folder, "file");
        File.WriteAllText(file, "");
        foreach (string path in new[] { file, Path.Combine(file, "logs") })
        {
            var facts = StorageReader.Read(path)!;
            Assert.Contains("there is a file at this path", facts.Refusal, StringComparison.Ordinal);
            Assert.Equal(FindingStatus.Problem, Assert.Single(StorageCheck.Of(facts)).Status);
        }
    }
}
