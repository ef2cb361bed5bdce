using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Receipts.Protocol;

// A subscription: notes what its sink has taken.
internal sealed class ReceiptSink(IDeliverySink sink, TakenMessages taken, Action<NodeKey> give) : IDeliverySink, ITopicReceiver
{
    public TakenMessages Taken => taken;

    public ITopicReceiver Receiver { get; set; } = null!;

    public Action? OnClose { get; set; }

    public string? Name
    {
        get => Receiver.Name;
        set => Receiver.Name = value;
    }

    long ITopicReceiver.Taken => Receiver.Taken;

    public bool TryAccept(in DeliveredMessage message)
    {
        if (!sink.TryAccept(message))
        {
            return false;
        }

        OnTaken(message.Sender, message.Sequence);
        return true;
    }

    public void OnGap(in TopicGap gap)
    {
        sink.OnGap(gap);
        OnTaken(gap.Sender, gap.Last);
    }

    public void OnStable(NodeKey sender, long through) => sink.OnStable(sender, through);

    public void OnView(MemberView view) => sink.OnView(view);

    public void OnFlush(IFlushBarrier barrier) => sink.OnFlush(barrier);

    public void Resume() => Receiver.Resume();

    public void AwaitLast(long configuration, Action settled, Action completed) => Receiver.AwaitLast(configuration, settled, completed);

    public IReadOnlyList<UntakenRange> Untaken() => Receiver.Untaken();

    public void Close()
    {
        OnClose?.Invoke();
        Receiver.Close();
    }

    private void OnTaken(NodeKey sender, long number)
    {
        if (taken.OnTaken(sender, number))
        {
            give(sender);
        }
    }
}
