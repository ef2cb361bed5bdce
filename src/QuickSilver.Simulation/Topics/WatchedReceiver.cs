using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Topics;

namespace QuickSilver.Simulation.Topics;

// A topic's receiver and its sink, with a listener between the layers: it notes what is delivered to the endpoints of the topic, and
// changes nothing.
internal sealed class WatchedReceiver(IDeliverySink sink, Deliveries deliveries) : ITopicReceiver, IDeliverySink, IDirectSink
{
    private ITopicReceiver? _receiver;
    // What stands behind the last Direct. One that may not be used any more refuses each message.
    private IDirectSink? _direct;

    /// <summary>Called once, before any other member of the receiver is used. Messages may come before.</summary>
    public ITopicReceiver Receiver
    {
        private get => _receiver!;
        set => _receiver = value;
    }

    public string? Name
    {
        get => Receiver.Name;
        set => Receiver.Name = value;
    }

    public long Taken => Receiver.Taken;

    public IDirectSink? Direct
    {
        get
        {
            _direct = sink.Direct;
            return _direct is null ? null : this;
        }
    }

    public bool TryAccept(in DeliveredMessage message) => Note(message, sink.TryAccept(message));

    public bool TryTake(in DeliveredMessage message) => Note(message, _direct?.TryTake(message) == true);

    public int Touch() => _direct?.Touch() ?? 0;

    public void OnGap(in TopicGap gap) => sink.OnGap(gap);

    public void OnStable(NodeKey sender, long through) => sink.OnStable(sender, through);

    public void OnView(MemberView view) => sink.OnView(view);

    public void OnFlush(IFlushBarrier barrier) => sink.OnFlush(barrier);

    public void Resume() => Receiver.Resume();

    public void AwaitLast(long configuration, Action settled, Action completed) => Receiver.AwaitLast(configuration, settled, completed);

    public IReadOnlyList<UntakenRange> Untaken() => Receiver.Untaken();

    public void Close() => Receiver.Close();

    private bool Note(in DeliveredMessage message, bool isTaken)
    {
        if (isTaken)
        {
            deliveries.Note(_receiver?.Name, (sink as TopicCore)?.Contract, message);
        }

        return isTaken;
    }
}
