namespace QuickSilver.Processes.Tests.Scenarios;

// A program whose heap is limited, as in a small container, and whose reader is slower than the publisher of the largest messages. What was
// accepted waits for memory, and is read in the end.
public sealed class HeapLimitScenarios
{
    private const int Subscriber = 2;
    private const int Publisher = 3;
    private const int Messages = 20;
    private const int Bytes = 16_000_000;

    [SkippableTheory]
    [InlineData("0xC000000")]
    [InlineData("0x8000000")]
    public void A_slow_reader_with_a_small_heap_gets_all_of_the_largest_messages(string limit)
    {
        using var run = new StreamNodes(hosts: 4);
        var cluster = run.Cluster;
        string address = cluster.Network.Address(Subscriber).ToString();
        string[] program = ["DOTNET_GCHeapHardLimit=" + limit, Programs.StreamNode, cluster.Service, address, "0"];
        var subscriber = cluster.StartProgram("env", Subscriber, program);
        StreamNodes.WaitFor(subscriber, "ready");
        StreamNodes.Do(subscriber, "subscribe large reliable reader", "subscribed large");
        var publisher = run.Node(Publisher);
        StreamNodes.Do(publisher, "open large reliable 1", "open large");
        publisher.Feed($"publish large {Messages} {Bytes}\n");
        subscriber.WaitForErrors(
            static errors => errors.Text().Contains("no memory for received messages", StringComparison.Ordinal), "the warning");
        subscriber.Feed("read large\n");
        string told = StreamNodes.Ask(subscriber, $"expect large 1 {Messages}", "has large");
        Assert.Equal($"has large {Messages} 0", told);
        StreamNodes.WaitFor(publisher, $"published large {Messages}");
        subscriber.CloseInput();
        subscriber.ExpectExit(0);
        run.EndAndExpectNothingWrong();
        Assert.DoesNotContain("OutOfMemory", subscriber.Errors.Text(), StringComparison.Ordinal);
    }
}
