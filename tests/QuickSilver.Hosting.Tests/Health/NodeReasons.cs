using System.Net;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Client.Servers;
using QuickSilver.Nodes;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Hosting.Tests.Health;

// The reasons of a node by itself, on fakes.
internal static class NodeReasons
{
    private static readonly TimeSpan HalfSecond = TimeSpan.FromMilliseconds(500);

    private static QuickSilverOptions Options => new() { Membership = { Servers = ["10.0.0.1:7400"] } };

    public static async Task<StatusReason> NotJoinedAsync()
    {
        await using var parts = new FakeParts { Joins = false, LastFailure = "connection refused" };
        return Assert.Single(new NodeCore(parts, Options, new RecordingLogs()).ReadStatus().Reasons);
    }

    public static async Task<StatusReason> RefusedAsync()
    {
        await using var parts = new FakeParts { Joins = false, LastRefusal = "This is the membership service of cluster 'b'." };
        return Assert.Single(new NodeCore(parts, Options, new RecordingLogs()).ReadStatus().Reasons);
    }

    public static async Task<StatusReason> CoreThreadBlockedAsync()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        parts.Time.Advance(TimeSpan.FromSeconds(10));
        return Assert.Single(node.Status.Reasons);
    }

    public static async Task<StatusReason> HandlerBlocksAsync()
    {
        await using var bench = await ConsumerBench.StartAsync();
        using var gate = new ManualResetEventSlim();
        using var entered = new ManualResetEventSlim();
        using var handler = bench.Topic.SubscribeInline((in Message<string> _) => Block(entered, gate));
        var delivery = bench.DeliverAsync(1);
        try
        {
            Assert.True(entered.Wait(TimeSpan.FromSeconds(20)));
            // The pulse is late by then, and two looks have found the same call.
            for (int i = 0; i < 4; i++)
            {
                bench.Parts.Time.Advance(HalfSecond);
            }

            return Assert.Single(bench.Node.Status.Reasons);
        }
        finally
        {
            gate.Set();
            await delivery.OrFail();
        }
    }

    public static async Task<StatusReason> ThreadPoolStarvedAsync()
    {
        await using var parts = new FakeParts();
        using var environment = new TestEnvironment(threaded: false) { HeldWork = [] };
        var watch = new PoolWatch(environment, static () => (1000, 12), NullLogger.Instance);
        watch.Begin();
        for (int i = 0; i < PoolWatch.LooksUntilStarved; i++)
        {
            environment.Advance(PoolWatch.Interval);
        }

        parts.Troubles = [watch.Trouble!];
        var node = await parts.StartAsync();
        return Assert.Single(node.Status.Reasons);
    }

    public static async Task<StatusReason> ExpelledAsync()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        await parts.Core.RunAsync(() => parts.Service.Observer!.OnExpelled("ten heartbeats missed"));
        return Assert.Single(node.Status.Reasons);
    }

    public static async Task<StatusReason> StoppedAsync()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        await node.DisposeAsync().OrFail();
        return Assert.Single(node.Status.Reasons);
    }

    public static async Task<StatusReason> ServiceUnreachableAsync()
    {
        await using var parts = new FakeParts { LastFailure = "connection reset" };
        var node = await parts.StartAsync(Options);
        await parts.Core.RunAsync(() => parts.Service.Observer!.OnServiceReachable(false));
        return Assert.Single(node.Status.Reasons);
    }

    public static async Task<StatusReason> ChangesWaitAsync()
    {
        var servers = new NamedServers([new IPEndPoint(IPAddress.Loopback, 7400)], resolution: null);
        string refusal = "etcd refused a request (database space exceeded). End the alarm with 'etcdctl alarm disarm'.";
        servers.OnWaiting(refusal, DateTimeOffset.UnixEpoch.AddDays(1), NullLogger.Instance);
        await using var parts = new FakeParts { Troubles = [servers.Trouble!] };
        var node = await parts.StartAsync(Options);
        return Assert.Single(node.Status.Reasons);
    }

    public static async Task<StatusReason> DegradedAsync()
    {
        await using var parts = new FakeParts { LastFailure = "connection reset" };
        var node = await parts.StartAsync(Options);
        await parts.Core.RunAsync(() =>
        {
            parts.Service.Observer!.OnServiceReachable(false);
            parts.Service.Observer!.OnServiceSilent(TimeSpan.FromSeconds(5));
        });
        return Assert.Single(node.Status.Reasons);
    }

    public static async Task<StatusReason> CodecBlocksAsync()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var codec = new HeldCodec(bytes: 1);
        var topic = await parts.Settle(node.OpenPublisherAsync<int>("slow", new TopicOptions<int> { Codec = codec }));
        var other = await parts.OpenPublisherAsync<byte[]>(node, "other");
        var publishing = Task.Run(async () => await topic.PublishAsync(HeldCodec.Held));
        try
        {
            await codec.IsWriting.Task.OrFail();
            await other.PublishAsync([1]);
            parts.Core.Pump();
            for (int i = 0; i < 4; i++)
            {
                parts.Core.Advance(TimeSpan.FromSeconds(2.5));
            }

            return Assert.Single(node.Status.Reasons);
        }
        finally
        {
            codec.GoesOn.Set();
            await publishing.OrFail();
        }
    }

    private static void Block(ManualResetEventSlim entered, ManualResetEventSlim gate)
    {
        entered.Set();
        gate.Wait();
    }
}
