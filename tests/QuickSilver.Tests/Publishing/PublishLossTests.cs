using Microsoft.Extensions.Logging;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Publishing;

// I25, the publisher's side: what was accepted was sent, or is counted as dropped and reported with its topic, once.
public sealed class PublishLossTests
{
    private const string Name = "losses";
    private const int ForTheLane = 10;
    private const int PastTheLane = 20_000;
    private const int Messages = 12;

    private readonly RecordingLogs _logs = new();

    [Theory]
    [InlineData(ForTheLane)]
    [InlineData(PastTheLane)]
    public async Task Disposing_an_endpoint_counts_and_reports_what_it_had_accepted_and_not_sent(int bytes)
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync(logs: _logs);
        var topic = await node.OpenPublisherAsync<byte[]>(Name).OrFail();
        parts.Wire.Waits = "a reader on node 7";
        await PublishAsync(parts, topic, bytes, sent: 5);
        Assert.Equal(Messages, node.Read(NodeFigures.Accepted));
        Assert.Equal(Messages - 5, node.GetGauges().PublishQueueMessages);
        Assert.Equal(0, topic.Dropped);

        await parts.Time.RunUntilAsync(topic.DisposeAsync().AsTask());
        Assert.Equal(Messages - 5, topic.Dropped);
        var counters = node.GetCounters();
        Assert.Equal((Messages, 5, Messages - 5), (node.Read(NodeFigures.Accepted), counters.Published, counters.PublishDrops));
        Assert.Equal(0, counters.Unacknowledged);
        Assert.Equal(0, node.GetGauges().PublishQueueMessages);
        Assert.Equal(
            "Topic \"losses\": 7 accepted messages may never arrive. 7 were not sent, and 0 were sent and not acknowledged by all members. "
            + "They waited for a reader on node 7. To wait longer, call DrainAsync before you dispose the topic or "
            + "the node.",
            Line(1660));
    }

    [Fact]
    public async Task An_endpoint_that_has_sent_everything_reports_nothing()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync(logs: _logs);
        var topic = await node.OpenPublisherAsync<byte[]>(Name).OrFail();
        await PublishAsync(parts, topic, ForTheLane, sent: Messages);
        await parts.Time.RunUntilAsync(topic.DisposeAsync().AsTask());
        Assert.Equal(0, topic.Dropped);
        Assert.DoesNotContain(_logs.Entries, static entry => entry.Id is >= 1660 and <= 1669);
    }

    [Fact]
    public async Task The_other_endpoint_of_a_topic_keeps_what_it_has_accepted()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync(logs: _logs);
        var ended = await node.OpenPublisherAsync<byte[]>(Name).OrFail();
        var other = await node.OpenPublisherAsync<byte[]>(Name).OrFail();
        await PublishAsync(parts, ended, ForTheLane, sent: 0);
        await PublishAsync(parts, other, ForTheLane, sent: 0);
        await parts.Time.RunUntilAsync(ended.DisposeAsync().AsTask());
        var sender = parts.SenderOf(Name);
        await parts.Core.RunAsync(() => sender.GiveRoom(int.MaxValue));
        await Patience.Until(() => sender.Count == Messages);
        Assert.Equal((Messages, 0), (ended.Dropped, other.Dropped));
    }

    [Fact]
    public async Task The_end_of_a_node_has_one_report_for_each_topic_with_what_is_not_acknowledged()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync(logs: _logs);
        var first = await node.OpenPublisherAsync<byte[]>(Name).OrFail();
        var second = await node.OpenPublisherAsync<byte[]>(Name).OrFail();
        var other = await node.OpenPublisherAsync<byte[]>("other").OrFail();
        await PublishAsync(parts, other, ForTheLane, sent: Messages, "other");
        await PublishAsync(parts, first, ForTheLane, sent: 4);
        await PublishAsync(parts, second, ForTheLane, sent: 0);
        parts.Wire.Unacknowledged.Add(new UnacknowledgedTopic(TopicId.Of(Name), 3, "the acknowledgement of node 9"));
        parts.Wire.Unacknowledged.Add(new UnacknowledgedTopic(TopicId.Of("other"), 2, "the acknowledgement of node 9"));

        await parts.Time.RunUntilAsync(node.DisposeAsync().AsTask());
        string[] lines = [.. _logs.Entries.Where(static entry => entry.Id == 1660).Select(static entry => entry.Text)];
        Assert.Collection(
            lines,
            line => Assert.StartsWith(
                "Topic \"losses\": 23 accepted messages may never arrive. 20 were not sent, and 3 were sent and not acknowledged by all "
                + "members. ",
                line),
            line => Assert.StartsWith(
                "Topic \"other\": 2 accepted messages may never arrive. 0 were not sent, and 2 were sent and not acknowledged by all "
                + "members. They waited for the acknowledgement of node 9. ",
                line));
        Assert.Equal((8, 12, 0), (first.Dropped, second.Dropped, other.Dropped));
        var counters = node.GetCounters();
        Assert.Equal((16, 20, 5), (counters.Published, counters.PublishDrops, counters.Unacknowledged));
        Assert.Equal(36, node.Read(NodeFigures.Accepted));
        Assert.Equal("The node has stopped (messages: 36 accepted to publish, 16 sent, 0 delivered, 0 not handled).", Line(1605));
    }

    [Theory]
    [InlineData(ForTheLane)]
    [InlineData(PastTheLane)]
    public async Task A_message_that_is_sent_while_counters_are_read_does_not_count_as_accepted_twice(int bytes)
    {
        const int Many = 4_000;
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await node.OpenPublisherAsync<byte[]>(Name).OrFail();
        var sender = parts.SenderOf(Name);
        await parts.Core.RunAsync(() => sender.GiveRoom(int.MaxValue));
        long begun = 0;
        var publishing = Task.Run(async () =>
        {
            byte[] payload = new byte[bytes];
            for (int i = 0; i < Many; i++)
            {
                Interlocked.Increment(ref begun);
                await topic.PublishAsync(payload).OrFail();
            }
        });
        for (long accepted = 0; accepted < Many;)
        {
            accepted = node.Read(NodeFigures.Accepted);
            Assert.InRange(accepted, 0, Interlocked.Read(ref begun));
            Assert.False(publishing.IsFaulted);
        }

        await publishing.OrFail();
    }

    [Fact]
    public async Task Messages_that_a_disposed_endpoint_drops_behind_a_topic_without_room_count_as_accepted_once()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync(logs: _logs);
        var first = await node.OpenPublisherAsync<byte[]>("first").OrFail();
        var second = await node.OpenPublisherAsync<byte[]>(Name).OrFail();
        await PublishAsync(parts, first, ForTheLane, sent: 0, "first");
        await PublishAsync(parts, second, ForTheLane, sent: 0);
        await parts.Time.RunUntilAsync(second.DisposeAsync().AsTask());
        Assert.Equal(Messages, second.Dropped);
        var counters = node.GetCounters();
        Assert.Equal((2 * Messages, 0, Messages), (node.Read(NodeFigures.Accepted), counters.Published, counters.PublishDrops));
        Assert.Equal(Messages, node.GetGauges().PublishQueueMessages);
    }

    // The endpoints drain for longer then than the node waits for them.
    [Theory]
    [InlineData(ForTheLane)]
    [InlineData(PastTheLane)]
    public async Task A_node_whose_core_thread_answers_late_reports_what_its_endpoints_had_accepted(int bytes)
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync(logs: _logs);
        var topic = await node.OpenPublisherAsync<byte[]>(Name).OrFail();
        await PublishAsync(parts, topic, bytes, sent: 5);
        using var answers = new ManualResetEventSlim();
        var late = parts.Core.RunAsync(answers.Wait);
        var end = node.DisposeAsync().AsTask();
        parts.Time.Advance(TimeSpan.FromMilliseconds(300));
        answers.Set();
        await late.OrFail();
        await parts.Time.RunUntilAsync(end);
        Assert.Equal(Messages - 5, topic.Dropped);
        Assert.Equal((Messages - 5, 0), (node.GetCounters().PublishDrops, node.GetCounters().Unacknowledged));
        Assert.StartsWith("Topic \"losses\": 7 accepted messages may never arrive. ", Line(1660));
    }

    [Fact]
    public async Task A_topic_that_was_closed_with_messages_on_their_way_is_named_when_the_node_ends()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync(logs: _logs);
        var topic = await node.OpenPublisherAsync<byte[]>(Name).OrFail();
        await PublishAsync(parts, topic, ForTheLane, sent: Messages);
        // An observer that waits makes the fake sender unstable.
        await parts.Core.RunAsync(() => parts.SenderOf(Name).GiveRoom(1));
        var stable = topic.PublishAsync([1], PublishCompletion.Stable).AsTask();
        await Patience.Until(() => parts.SenderOf(Name).Count == Messages + 1);
        await parts.Time.RunUntilAsync(topic.DisposeAsync().AsTask());
        await Assert.ThrowsAsync<ObjectDisposedException>(() => stable).OrFail();
        parts.Wire.Unacknowledged.Add(new UnacknowledgedTopic(TopicId.Of(Name), 1, "the acknowledgement of node 9"));
        await parts.Time.RunUntilAsync(node.DisposeAsync().AsTask());
        Assert.StartsWith("Topic \"losses\": 1 accepted messages may never arrive. ", Line(1660));
    }

    [Fact]
    public async Task Cancelling_an_endpoint_counts_what_it_drops_and_warns_of_nothing()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync(logs: _logs);
        var topic = await node.OpenPublisherAsync<byte[]>(Name).OrFail();
        await PublishAsync(parts, topic, ForTheLane, sent: 2);
        topic.Cancel();
        await Patience.Until(() => topic.Dropped == Messages - 2);
        await Patience.Until(() => _logs.Entries.Any(static entry => entry.Id == 1661));
        Assert.Equal("Topic \"losses\": 10 accepted messages were not sent, because their endpoint was cancelled.", Line(1661));
        await topic.DisposeAsync().OrFail();
        Assert.Equal(Messages - 2, topic.Dropped);
        Assert.DoesNotContain(_logs.Entries, static entry => entry.Level >= LogLevel.Warning);
    }

    [Fact]
    public async Task An_expelled_node_reports_what_it_had_accepted_with_the_reason()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync(logs: _logs);
        var topic = await node.OpenPublisherAsync<byte[]>(Name).OrFail();
        await PublishAsync(parts, topic, ForTheLane, sent: 2);
        parts.Wire.Unacknowledged.Add(new UnacknowledgedTopic(TopicId.Of(Name), 2, "the acknowledgement of node 9"));
        await parts.Core.RunAsync(() => parts.Service.Observer!.OnExpelled("ten heartbeats missed"));
        await Patience.Until(() => _logs.Entries.Any(static entry => entry.Id == 1660));
        Assert.StartsWith("Topic \"losses\": 12 accepted messages may never arrive. 10 were not sent, and 2 were sent ", Line(1660));
        Assert.Contains("ten heartbeats missed", Line(1660));
        await parts.Time.RunUntilAsync(node.DisposeAsync().AsTask());
        Assert.Equal(2, node.GetCounters().Unacknowledged);
    }

    [Fact]
    public async Task A_call_that_waits_until_its_message_is_stable_fails_by_itself_and_is_not_counted()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync(logs: _logs);
        var topic = await node.OpenPublisherAsync<byte[]>(Name).OrFail();
        await PublishAsync(parts, topic, ForTheLane, sent: 0);
        var waiting = topic.PublishAsync([1], PublishCompletion.Stable).AsTask();
        await parts.Time.RunUntilAsync(topic.DisposeAsync().AsTask());
        await Assert.ThrowsAsync<ObjectDisposedException>(() => waiting).OrFail();
        Assert.Equal(Messages, topic.Dropped);
    }

    [Fact]
    public async Task The_message_that_a_feed_could_not_send_counts()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync(logs: _logs);
        var topic = await node.OpenPublisherAsync<string>(Name).OrFail();
        var sender = parts.SenderOf(Name);
        await parts.Core.RunAsync(() => sender.GiveRoom(3));
        using var attached = topic.AttachFeed(ScriptedFeed.Counting(messages: 10));
        await Patience.Until(() => sender.Count == 3);
        await parts.Time.RunUntilAsync(topic.DisposeAsync().AsTask());
        Assert.InRange(topic.Dropped, 0, 1);
        Assert.Equal(node.Read(NodeFigures.Accepted), sender.Count + topic.Dropped);
    }

    [Theory]
    [InlineData(ForTheLane)]
    [InlineData(PastTheLane)]
    public async Task However_publishes_and_dispose_interleave_what_completed_was_sent_or_is_counted(int bytes)
    {
        const int Publishers = 2;
        await using var parts = new FakeParts();
        var node = await parts.StartAsync(new QuickSilverOptions { Limits = { PublishQueueBytes = 64 << 10 } });
        byte[] payload = new byte[bytes];
        for (int round = 0; round < 100; round++)
        {
            var topic = await node.OpenPublisherAsync<byte[]>(Name).OrFail();
            var sender = parts.SenderOf(Name);
            sender.Keeps = false;
            await parts.Core.RunAsync(() => sender.GiveRoom(round));
            using var start = new Barrier(Publishers + 1);
            var publishers = Enumerable.Range(0, Publishers).Select(_ => Task.Factory.StartNew(
                () => PublishUntilEnded(topic, payload, start), TaskCreationOptions.LongRunning)).ToArray();
            start.SignalAndWait();
            Thread.SpinWait(round * 20);
            await parts.Time.RunUntilAsync(topic.DisposeAsync().AsTask());
            int[] completed = await Task.WhenAll(publishers).OrFail();
            await parts.Core.RunAsync(() => { });
            // The last call of each publisher throws, and its message may have been sent or counted.
            Assert.InRange(sender.Count + topic.Dropped, completed.Sum(), completed.Sum() + Publishers);
        }
    }

    private static async Task PublishAsync(FakeParts parts, ITopicPublisher<byte[]> topic, int bytes, int sent, string name = Name)
    {
        var sender = parts.SenderOf(name);
        await parts.Core.RunAsync(() => sender.GiveRoom(sent));
        long before = sender.Count;
        for (int i = 0; i < Messages; i++)
        {
            await topic.PublishAsync(new byte[bytes]).OrFail();
        }

        await Patience.Until(() => sender.Count == before + sent);
        await parts.Core.RunAsync(static () => { });
    }

    private static int PublishUntilEnded(ITopicPublisher<byte[]> topic, byte[] payload, Barrier start)
    {
        start.SignalAndWait();
        for (int completed = 0; ; completed++)
        {
            try
            {
                topic.PublishAsync(payload).AsTask().GetAwaiter().GetResult();
            }
            catch (ObjectDisposedException)
            {
                return completed;
            }
        }
    }

    private string Line(int id) => Assert.Single(_logs.Entries, entry => entry.Id == id).Text;
}
