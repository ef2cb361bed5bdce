using Microsoft.Extensions.Logging;
using QuickSilver.Core.Environment;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Serialization;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Simulation.Tests.Clusters.Faults;

// The heap of a subscriber has no memory for a codec or a reader's buffer: whole nodes, in virtual time (I1 to I4, I22). The messages come
// again, each once to each consumer.
public sealed class FullHeapTests : IDisposable
{
    private const int Messages = 50;
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly RecordingLogs _logs = new();
    private readonly SimulatedCluster _cluster;
    private readonly HungryCodec _codec = new();

    public FullHeapTests()
    {
        _cluster = new SimulatedCluster(new SimulationOptions { Nodes = 2, Seed = 7, LoggerFactory = _logs });
        _cluster.Start();
    }

    private QuickSilverNode Sender => _cluster.Nodes[0].Node;

    private QuickSilverNode Receiver => _cluster.Nodes[1].Node;

    private bool IsFull => Receiver.Status.Reasons.Any(static reason => reason.Kind == StatusReasonKind.HeapFull);

    public void Dispose() => _cluster.Dispose();

    [Fact]
    public void A_codec_without_memory_is_a_full_reader_and_each_handler_gets_each_message_once()
    {
        List<int>[] handled = [[], [], []];
        var first = Open();
        first.SubscribeInline((in Message<byte[]> message) => handled[0].Add(message.Value[0]));
        first.SubscribeInline((in Message<byte[]> message) => handled[1].Add(message.Value[0]));
        Open().SubscribeInline((in Message<byte[]> message) => handled[2].Add(message.Value[0]));
        // The heap is full for some time, and the second endpoint's reading fails as often as the first one's.
        _cluster.Nodes[1].Faults.Heap.Refuses = static (_, _) => false;
        _codec.Fails = static reads => reads % 3 != 0;
        PublishAll();
        _cluster.Run(Second * 20);
        Assert.Equal(StatusReasonKind.HeapFull, Receiver.Status.Reasons.FirstOrDefault()?.Kind);
        _codec.Fails = static _ => false;
        AllCame(handled);
    }

    [Fact]
    public void While_a_codec_has_no_memory_the_publisher_waits_and_nothing_is_undecodable()
    {
        List<int>[] handled = [[]];
        Open().SubscribeInline((in Message<byte[]> message) => handled[0].Add(message.Value[0]));
        _cluster.Nodes[1].Faults.Heap.Refuses = static (_, _) => false;
        _codec.Fails = static _ => true;
        PublishAll();
        _cluster.Run(Second * 120);
        Assert.Empty(handled[0]);
        // Each attempt costs a collection, so they are rare.
        Assert.InRange(_codec.Reads, 10, 200);
        _codec.Fails = static _ => false;
        AllCame(handled);
    }

    [Fact]
    public void Shortages_that_come_again_and_again_are_logged_more_and_more_rarely_each_with_its_end()
    {
        const int Shortages = 40;
        List<int> handled = [];
        Open().SubscribeInline((in Message<byte[]> message) => handled.Add(message.Value[0]));
        var publisher = _cluster.RunUntilCompleted(Sender.OpenPublisherAsync<byte[]>(
            "news", new TopicOptions<byte[]> { Codec = new HungryCodec() }));
        _cluster.RunUntilCompleted(publisher.WaitForSubscribersAsync(1));
        _cluster.Nodes[1].Faults.Heap.Refuses = static (_, _) => false;
        for (int i = 0; i < Shortages; i++)
        {
            _codec.Fails = static _ => true;
            byte[] payload = [(byte)i];
            _cluster.Nodes[0].Post(async () => await publisher.PublishAsync(payload));
            _cluster.Eventually("the heap is full", () => IsFull, Second * 10);
            _codec.Fails = static _ => false;
            _cluster.Eventually("it has memory again", () => !IsFull && handled.Count == i + 1, Second * 10);
        }

        var pair = _logs.Entries.Where(static entry => entry.Id is 1434 or 1435).ToList();
        // The first 8, the 16th and the 32nd.
        Assert.Equal(Enumerable.Repeat((int[])[1434, 1435], 10).SelectMany(static one => one), pair.Select(static entry => entry.Id));
        Assert.All(pair, static entry => Assert.Equal(LogLevel.Warning, entry.Level));
        Assert.Contains("Shortages: 32.", pair[^1].Text, StringComparison.Ordinal);
    }

    // A payload can ask for any size.
    [Fact]
    public void A_message_for_which_a_codec_never_has_memory_although_there_is_some_is_undecodable()
    {
        List<int> handled = [];
        List<GapNotice> gaps = [];
        Open().SubscribeInline((in Message<byte[]> message) => handled.Add(message.Value[0]), gaps.Add);
        _codec.FailsAt = 3;
        PublishAll();
        _cluster.Eventually("all others are handled", () => handled.Count == Messages - 1, Second * 60);
        Assert.Equal(Enumerable.Range(0, Messages).Where(static number => number != 3), handled);
        Assert.Equal((4L, 4L, GapReason.Undecodable), (gaps[0].First, gaps[0].Last, gaps[0].Reason));
        Assert.Single(gaps);
        Assert.Equal(1, Receiver.Read(NodeFigures.DecodeFaults));
    }

    [Theory]
    [InlineData(1.0)]
    [InlineData(0.5)]
    public void A_reader_for_whose_buffer_there_is_no_memory_gets_all_messages_later(double share)
    {
        var random = new Random(3);
        List<int>[] handled = [[], []];
        int refused = 0;
        var topic = Open();
        _cluster.Nodes[1].Faults.Heap.Refuses = (use, _) => use == HeapUse.ReaderBuffer && random.NextDouble() < share && ++refused > 0;
        topic.SubscribeInline((in Message<byte[]> message) => handled[0].Add(message.Value[0]));
        topic.Subscribe((message, _) =>
        {
            handled[1].Add(message.Value[0]);
            return default;
        });
        PublishAll();
        _cluster.Run(Second * 5);
        Assert.True(refused > 0, "nothing was refused");
        _cluster.Nodes[1].Faults.Heap.Refuses = null;
        AllCame(handled);
    }

    private ITopicSubscriber<byte[]> Open() =>
        _cluster.RunUntilCompleted(Receiver.OpenSubscriberAsync<byte[]>("news", new TopicOptions<byte[]> { Codec = _codec }));

    private void PublishAll()
    {
        var publisher = _cluster.RunUntilCompleted(Sender.OpenPublisherAsync<byte[]>(
            "news", new TopicOptions<byte[]> { Codec = new HungryCodec() }));
        _cluster.RunUntilCompleted(publisher.WaitForSubscribersAsync(1));
        _cluster.Nodes[0].Post(async () =>
        {
            for (int i = 0; i < Messages; i++)
            {
                byte[] payload = new byte[(i % 4) switch { 0 => 10, 1 => 3_000, 2 => 40_000, _ => 300_000 }];
                payload[0] = (byte)i;
                await publisher.PublishAsync(payload);
            }
        });
    }

    private void AllCame(List<int>[] handled)
    {
        _cluster.Eventually("all is handled", () => handled.All(static one => one.Count >= Messages), Second * 60);
        _cluster.Run(Second * 5);
        Assert.All(handled, static one => Assert.Equal(Enumerable.Range(0, Messages), one));
        // However often they came again.
        Assert.Equal(Messages, Receiver.GetCounters().Delivered);
        Assert.Equal((0L, 0L), (Receiver.Read(NodeFigures.DecodeFaults), Receiver.GetCounters().Gaps));
        Assert.Empty(Receiver.Status.Reasons);
    }

    private sealed class HungryCodec : IPayloadCodec<byte[]>
    {
        public Func<int, bool> Fails { get; set; } = static _ => false;

        public int? FailsAt { get; set; }

        public int Reads { get; private set; }

        public PayloadSchema Schema { get; } = new("bytes", PayloadSchema.BytesKind, []);

        public int GetSize(in byte[] value) => value.Length;

        public int Write(in byte[] value, Span<byte> destination)
        {
            value.CopyTo(destination);
            return value.Length;
        }

        public byte[] Read(ReadOnlySpan<byte> source) =>
            Fails(++Reads) || source[0] == FailsAt ? throw new OutOfMemoryException() : source.ToArray();
    }
}
