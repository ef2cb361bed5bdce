using QuickSilver.Membership.Views;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Publishing;

// Messages that packet memory can never take, as the topic lies in so many regions.
public sealed class ImpossibleMessageTests
{
    private const string Name = "orders";

    [Theory]
    [InlineData(1000, "the limit is now 1,000.")]
    [InlineData(-1, "the limit is now 0.")]
    public async Task A_message_that_can_never_be_sent_is_refused_with_the_figures_and_what_to_do(long most, string expected)
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var topic = await parts.OpenPublisherAsync<byte[]>(node, Name);
        parts.SenderOf(Name).MostBytes = most;
        parts.Service.PublishView(TopicId.Of(Name), subscribers: 100, subscribed: false);

        foreach (int size in (int[])[1001, 1 << 20])
        {
            var refusal = await Assert.ThrowsAsync<MessageTooLargeException>(() => topic.PublishAsync(new byte[size]).AsTask());
            Assert.Equal(size, refusal.Bytes);
            Assert.Contains(expected, refusal.Message, StringComparison.Ordinal);
            Assert.Contains("Limits:BufferBytes", refusal.Message, StringComparison.Ordinal);
        }

        await Assert.ThrowsAsync<MessageTooLargeException>(() => topic.PublishAsync(new byte[2000], PublishCompletion.Stable).AsTask());
    }

    [Fact]
    public async Task A_message_that_no_longer_fits_all_regions_is_reported_as_lost_and_later_ones_are_sent()
    {
        var logs = new RecordingLogs();
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync(logs: logs);
        var topic = await parts.OpenPublisherAsync<byte[]>(node, Name);
        var sender = parts.SenderOf(Name);
        Assert.True(topic.PublishAsync(new byte[500]).IsCompletedSuccessfully);
        var stable = topic.PublishAsync(new byte[2_000], PublishCompletion.Stable).AsTask();
        Assert.True(topic.PublishAsync(new byte[100_000]).IsCompletedSuccessfully);
        Assert.True(topic.PublishAsync(new byte[50]).IsCompletedSuccessfully);
        sender.MostBytes = 100;
        parts.Core.Pump();

        Assert.Equal([50], sender.Sent.Select(message => message.Length));
        await Assert.ThrowsAsync<MessageTooLargeException>(() => stable);
        Assert.Contains(logs.Entries, entry => entry.Id == 1616 && entry.Text.Contains("the limit is now 100.", StringComparison.Ordinal));
        Assert.Equal(0, node.GetGauges().PublishQueueBytes);
    }
}
