using QuickSilver.Tests.Endpoints;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Composition;

// What a node of the machine with default options takes of the memory that a limit of the collector's heap counts.
[Collection(nameof(AllocationTests))]
public sealed class IdleNodeTests
{
    private const long Bound = 16_000_000;

    [Fact]
    public async Task A_node_with_default_options_commits_less_than_16_MB_of_the_collectors_heap()
    {
        var before = Heap();
        await using var node = await QuickSilverNode.StartAsync(new QuickSilverOptions { Cluster = $"idle {Guid.NewGuid():N}" }).OrFail();
        await using var sent = await node.OpenPublisherAsync<ReadOnlyMemory<byte>>("news").OrFail();
        await using var received = await node.OpenSubscriberAsync<ReadOnlyMemory<byte>>("news").OrFail();
        await sent.WaitForSubscribersAsync(1).OrFail();
        await sent.PublishAsync(new byte[] { 1, 2, 3 }, PublishCompletion.Stable).OrFail();

        var after = Heap();
        Assert.InRange(after.HeapSizeBytes - before.HeapSizeBytes, long.MinValue, Bound);
        Assert.InRange(after.TotalCommittedBytes - before.TotalCommittedBytes, long.MinValue, Bound);
    }

    private static GCMemoryInfo Heap()
    {
        GC.Collect();
        return GC.GetGCMemoryInfo(GCKind.FullBlocking);
    }
}
