using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Records;
using QuickSilver.Simulation.Machines;
using QuickSilver.Tool.Perf;
using QuickSilver.Tool.Swarm.Records;

namespace QuickSilver.Tool.Swarm;

// One topic of one node: numbers what the node publishes, and holds what comes against each publisher's numbering. It is
// done when every publisher's end marker has come. What it receives it takes on the core thread.
internal sealed class SwarmTopic(ITopic<ReadOnlyMemory<byte>> endpoint, int publishers, Subscription subscription, NodeRecorder? recorder)
{
    private SequenceCheck _check = new();
    private int _ended;
    private long _delivered;
    private long _gaps;
    private long _duplicates;

    public ITopic<ReadOnlyMemory<byte>> Endpoint => endpoint;

    public long Published { get; private set; }

    public long Delivered => Volatile.Read(ref _delivered);

    public long Gaps => Volatile.Read(ref _gaps);

    public long Duplicates => Volatile.Read(ref _duplicates);

    public bool IsDone => Volatile.Read(ref _ended) >= publishers;

    public void Begin() => endpoint.SubscribeInline(
        Take, gap => recorder?.Gap(subscription, new NodeKey(gap.Sender.Id, gap.Sender.Incarnation), gap));

    public ValueTask PublishAsync(byte[] payload, long sentAtTicks, CancellationToken cancellationToken)
    {
        PerfMessage.Write(payload, sentAtTicks, ++Published);
        return endpoint.PublishAsync(payload, cancellationToken);
    }

    public ValueTask EndAsync(byte[] payload, CancellationToken cancellationToken)
    {
        PerfMessage.Write(payload, 0, PerfMessage.End(Published));
        return endpoint.PublishAsync(payload, cancellationToken);
    }

    private void Take(in Message<ReadOnlyMemory<byte>> message)
    {
        if (recorder is not null)
        {
            var sender = new NodeKey(message.Sender.Id, message.Sender.Incarnation);
            recorder.Delivered(subscription, new MessageId(sender, subscription.Topic, message.Sequence), TraceHash.Of(message.Value.Span));
        }

        if (!PerfMessage.TryRead(message.Value.Span, out _, out long sequence))
        {
            return;
        }

        (long missing, bool duplicate) = _check.Take(message.Sender, sequence);
        Volatile.Write(ref _gaps, _gaps + missing);
        Volatile.Write(ref _duplicates, _duplicates + (duplicate ? 1 : 0));
        if (!PerfMessage.IsEnd(sequence))
        {
            Volatile.Write(ref _delivered, _delivered + 1);
        }
        else if (!duplicate)
        {
            Volatile.Write(ref _ended, _ended + 1);
        }
    }
}
