using QuickSilver.Processes.Tests.Harness;

namespace QuickSilver.Processes.Tests.Scenarios.Delivery;

// A program whose heap is limited, as in a small container, and whose readers are slower than the publisher of the largest messages. What
// was accepted waits for memory, and is read in the end.
public sealed class HeapLimitScenarios
{
    private const int Subscriber = 2;
    private const int Publisher = 3;
    private const int Messages = 6;
    private const int Bytes = 16_000_000;

    private static readonly string[] Topics = ["one", "two", "three", "four"];

    [Fact]
    public void Slow_readers_with_a_small_heap_get_all_of_the_largest_messages()
    {
        using var run = new StreamNodes(hosts: 4);
        var cluster = run.Cluster;
        string address = cluster.Network.Address(Subscriber).ToString();
        string[] program = ["DOTNET_GCHeapHardLimit=0xC000000", Programs.StreamNode, cluster.Service, address, "0"];
        var subscriber = cluster.StartProgram("env", Subscriber, program);
        StreamNodes.WaitFor(subscriber, "ready");
        var publisher = run.Node(Publisher);
        foreach (string topic in Topics)
        {
            StreamNodes.Do(subscriber, $"subscribe {topic} reliable reader", $"subscribed {topic}");
            StreamNodes.Do(publisher, $"open {topic} reliable 1", $"open {topic}");
            publisher.Feed($"publish {topic} {Messages} {Bytes}\n");
        }

        subscriber.WaitForErrors(
            static errors => errors.Text().Contains("no memory for messages", StringComparison.Ordinal), "the warning");
        foreach (string topic in Topics)
        {
            subscriber.Feed($"read {topic}\n");
        }

        foreach (string topic in Topics)
        {
            string came = StreamNodes.Ask(subscriber, $"expect {topic} 1 {Messages}", $"has {topic}");
            Assert.Equal($"has {topic} {Messages} 0", came);
            StreamNodes.WaitFor(publisher, $"published {topic} {Messages}");
        }

        subscriber.CloseInput();
        subscriber.ExpectExit(0);
        run.EndAndExpectNothingWrong();
        Assert.DoesNotContain("OutOfMemory", subscriber.Errors.Text(), StringComparison.Ordinal);
    }
}
