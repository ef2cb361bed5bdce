using System.Diagnostics;
using QuickSilver.Tool.Perf;
using QuickSilver.Tool.Perf.Payloads;

namespace QuickSilver.Tool.Tests.Perf;

// The time that qsm perf receive measures.
public sealed class ReceiverTests
{
    private static readonly NodeId One = new(1, 1);
    private static readonly NodeId Two = new(2, 1);

    private readonly BytesPayload _payload = new(100);

    [Fact]
    public void A_sender_that_sends_nothing_after_its_begin_gives_no_time()
    {
        var receiver = new Receiver<ReadOnlyMemory<byte>, BytesPayload>(topicCount: 1, senders: 1, limit: null);
        Take(receiver.Topic(), One, PerfMessage.Begin);
        Assert.True(receiver.First.IsSet);
        Assert.Equal((0L, 0.0), (receiver.Delivered, receiver.Seconds));
    }

    [Fact]
    public void Senders_that_never_send_at_the_same_time_give_no_time()
    {
        var receiver = new Receiver<ReadOnlyMemory<byte>, BytesPayload>(topicCount: 1, senders: 2, limit: null);
        var topic = receiver.Topic();
        foreach (var sender in (NodeId[])[One, Two])
        {
            Take(topic, sender, PerfMessage.Begin);
            Take(topic, sender, 1);
            Take(topic, sender, PerfMessage.End(1));
        }

        Assert.True(receiver.Done.IsSet);
        Assert.Equal((0L, 0.0), (receiver.Delivered, receiver.Seconds));
    }

    [Fact]
    public void A_sender_is_measured_from_its_begin_to_its_end()
    {
        var receiver = new Receiver<ReadOnlyMemory<byte>, BytesPayload>(topicCount: 1, senders: 1, limit: null);
        var topic = receiver.Topic();
        long start = Stopwatch.GetTimestamp();
        Take(topic, One, PerfMessage.Begin);
        Take(topic, One, 1);
        Take(topic, One, PerfMessage.End(1));
        Assert.Equal(1, receiver.Delivered);
        Assert.InRange(receiver.Seconds, double.Epsilon, Stopwatch.GetElapsedTime(start).TotalSeconds);
    }

    private void Take(MessageHandler<ReadOnlyMemory<byte>> topic, NodeId sender, long sequence) =>
        topic(new Message<ReadOnlyMemory<byte>>(_payload.Write(Stopwatch.GetTimestamp(), sequence), sender, 1));
}
