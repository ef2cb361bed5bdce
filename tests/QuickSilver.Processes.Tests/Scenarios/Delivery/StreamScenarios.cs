using System.Globalization;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Scenarios.Delivery;

// What streams of whole processes promise where the network, a reader or memory is short. I1 to I4, I17, I20 under F1 and F10.
[Collection(nameof(Alone))]
public sealed class StreamScenarios
{
    private const long LeastBufferBytes = 32 << 20;
    private static readonly int[] Subscribers = [2, 3, 4];

    // The last message is lost for all, and nothing comes after it.
    [Fact]
    public void Best_effort_messages_delivered_and_reported_as_gaps_add_up_to_those_sent()
    {
        const int Small = 3_000;
        const int Large = 300;
        const int LastBytes = 50_000;
        const int All = Small + Large + 1;
        using var run = new StreamNodes(4);
        var publisher = run.Node(1);
        var readers = Subscribers.Select(node => run.Subscriber(node, "news besteffort handler")).ToList();
        StreamNodes.Do(publisher, "open news besteffort 3", "open news");
        readers.ForEach(reader => reader.Feed($"expect news 1 {All}\n"));

        run.Cluster.Switch.SetAll(new Impairment { LossPercent = 20 });
        StreamNodes.Do(publisher, $"publish news {Small} 300", $"published news {Small}");
        StreamNodes.Do(publisher, $"publish news {Large} 4000", $"published news {Small + Large}");
        run.Cluster.Switch.SetMulticast(false);
        var census = run.Cluster.Switch.Census = new UdpCensus();
        StreamNodes.Do(publisher, $"publish news 1 {LastBytes}", $"published news {All}");
        Wait("the last message to be sent", () => census.BytesByDestination().Sum(each => each.Value) >= LastBytes);
        run.Cluster.Switch.SetMulticast(true);

        foreach (var reader in readers)
        {
            var (delivered, told) = Told(reader, "news");
            Assert.Equal(All, delivered + told);
            Assert.True(told > 0 && delivered > 0, $"{delivered} delivered, {told} reported: this shows nothing");
        }

        run.EndAndExpectNothingWrong();
    }

    [Fact]
    public void A_reader_that_does_not_read_holds_back_its_own_topic_alone_and_then_gets_all()
    {
        const int Held = 200_000;
        const int Piece = 500;
        const int Pieces = 10;
        using var run = new StreamNodes(5);
        var publisher = run.Node(1);
        var slow = run.Subscriber(2, "slow reliable reader", "brisk reliable handler");
        var quick = run.Subscriber(3, "slow reliable handler", "brisk reliable handler");
        var elsewhere = run.Node(4);
        var apart = run.Subscriber(5, "apart reliable handler");
        StreamNodes.Do(publisher, "open slow reliable 2", "open slow");
        StreamNodes.Do(publisher, "open brisk reliable 2", "open brisk");
        StreamNodes.Do(elsewhere, "open apart reliable 1", "open apart");

        publisher.Feed($"publish slow {Held} 1000\n");
        slow.Feed($"expect slow 1 {Held}\n");
        quick.Feed($"expect slow 1 {Held}\n");
        for (int piece = 1; piece <= Pieces; piece++)
        {
            int sent = piece * Piece;
            Array.ForEach([slow, quick], node => node.Feed($"expect brisk 1 {sent}\n"));
            apart.Feed($"expect apart 1 {sent}\n");
            StreamNodes.Do(publisher, $"publish brisk {Piece} 1000", $"published brisk {sent}");
            StreamNodes.Do(elsewhere, $"publish apart {Piece} 1000", $"published apart {sent}");
            Array.ForEach([slow, quick], node => StreamNodes.WaitFor(node, $"has brisk {sent} 0"));
            StreamNodes.WaitFor(apart, $"has apart {sent} 0");
        }

        Assert.DoesNotContain(slow.Output.Lines(), line => line.StartsWith("has slow", StringComparison.Ordinal));
        Assert.DoesNotContain(publisher.Output.Lines(), line => line.StartsWith("published slow", StringComparison.Ordinal));
        slow.Feed("read slow\n");
        Array.ForEach([slow, quick], node => StreamNodes.WaitFor(node, $"has slow {Held} 0"));
        run.EndAndExpectNothingWrong();
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void Four_publishers_at_full_speed_with_the_least_memory_lose_no_message_and_no_node(double lossPercent)
    {
        const int Seconds = 15;
        using var run = new StreamNodes(4, LeastBufferBytes);
        var nodes = Enumerable.Range(1, 4).Select(node => run.Subscriber(node, "all reliable handler")).ToList();
        nodes.ForEach(node => StreamNodes.Do(node, "open all reliable 4", "open all"));

        run.Cluster.Switch.SetAll(new Impairment { LossPercent = lossPercent });
        nodes.ForEach(node => node.Feed($"flood all {Seconds} 1000\n"));
        long sent = nodes.Sum(node => Last(StreamNodes.WaitFor(node, "published all")));
        nodes.ForEach(node => node.Feed($"expect all 4 {sent}\n"));

        foreach (var node in nodes)
        {
            Assert.Equal((sent, 0L), Told(node, "all"));
        }

        run.EndAndExpectNothingWrong();
    }

    private static (long Delivered, long Told) Told(NodeProcess node, string topic)
    {
        var words = StreamNodes.WaitFor(node, $"has {topic}").Split(' ');
        return (Number(words[^2]), Number(words[^1]));
    }

    private static long Last(string line) => Number(line.Split(' ')[^1]);

    private static long Number(string text) => long.Parse(text, CultureInfo.InvariantCulture);

    private static void Wait(string what, Func<bool> condition) =>
        Assert.True(SpinWait.SpinUntil(condition, NodeProcess.Patience), $"waited for {what}");
}
