using QuickSilver.Core.Storage;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests;

// The option StorageDirectory of whole nodes: who gets the directory, and what a refusal says.
public sealed class StorageDirectoryOptionTests : IDisposable
{
    private readonly string _folder = Path.Combine(Path.GetTempPath(), "qs-" + Guid.NewGuid().ToString("N"));

    public void Dispose()
    {
        if (Directory.Exists(_folder))
        {
            Directory.Delete(_folder, recursive: true);
        }
    }

    [Fact]
    public async Task Two_nodes_of_one_process_do_not_share_a_directory_and_the_second_gets_it_when_the_first_has_ended()
    {
        var options = OnLoopback();
        var first = await QuickSilverNode.StartAsync(options).OrFail();
        var refusal = await Assert.ThrowsAsync<QuickSilverOptionsException>(() => QuickSilverNode.StartAsync(options).OrFail());
        Assert.StartsWith($"The option StorageDirectory is \"{_folder}\".", refusal.Message, StringComparison.Ordinal);
        Assert.Contains($"process {Environment.ProcessId} (", refusal.Message, StringComparison.Ordinal);
        Assert.Contains("Give each node a storage directory of its own", refusal.Message, StringComparison.Ordinal);
        await first.DisposeAsync();
        await using var second = await QuickSilverNode.StartAsync(options).OrFail();
        Assert.True(second.Status.IsReady);
    }

    [Fact]
    public async Task A_start_that_fails_leaves_the_directory_free()
    {
        var options = OnLoopback();
        options.Membership.Servers = ["127.0.0.1:9"];
        options.StartTimeout = TimeSpan.FromMilliseconds(100);
        await Assert.ThrowsAsync<MembershipUnreachableException>(() => QuickSilverNode.StartAsync(options).OrFail());
        Assert.False(StorageDirectory.IsInUse(_folder, out _));
    }

    [Fact]
    public async Task A_file_in_place_of_the_directory_fails_the_start()
    {
        Directory.CreateDirectory(_folder);
        string file = Path.Combine(_folder, "file");
        File.WriteAllText(file, "");
        var options = OnLoopback();
        options.StorageDirectory = file;
        var refusal = await Assert.ThrowsAsync<QuickSilverOptionsException>(() => QuickSilverNode.StartAsync(options).OrFail());
        Assert.Contains("there is a file at this path. Name a directory", refusal.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_node_without_the_option_writes_nothing()
    {
        var options = OnLoopback();
        options.StorageDirectory = null;
        await using var node = await QuickSilverNode.StartAsync(options).OrFail();
        Assert.False(Directory.Exists(_folder));
    }

    [Fact]
    public async Task Nodes_in_memory_have_directories_of_their_own_as_well()
    {
        var network = new InMemoryNetwork();
        var options = new QuickSilverOptions { StorageDirectory = _folder };
        await using var first = await network.StartNodeAsync(options).OrFail();
        await Assert.ThrowsAsync<QuickSilverOptionsException>(() => network.StartNodeAsync(options).OrFail());
    }

    private QuickSilverOptions OnLoopback() => new() { Cluster = $"storage {Guid.NewGuid():N}", StorageDirectory = _folder };
}
