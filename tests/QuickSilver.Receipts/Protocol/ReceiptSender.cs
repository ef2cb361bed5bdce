using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Protocols;

namespace QuickSilver.Receipts.Protocol;

// A publisher's side of a topic: notes what it has sent and what members have confirmed.
internal sealed class ReceiptSender(
    ITopicSender sender, ProtocolTopic topic, IProtocolNode node, Action onSent, Action onClose) : ITopicSender, IProtocolWait
{
    public ConfirmedMessages Confirmed { get; } = new();

    public long Progress => Confirmed.Progress;

    public string What => $"The publisher of topic \"{topic.Name}\" waits for receipts up to message {Confirmed.Sent}";

    public string? WaitsFor { get; set; }

    public string? Name
    {
        get => sender.Name;
        set => sender.Name = value;
    }

    public long MostBytes => sender.MostBytes;

    public ISenderFeed? Feed
    {
        get => sender.Feed;
        set => sender.Feed = value;
    }

    public int RoomBytes => sender.RoomBytes;

    public long Count => sender.Count;

    public StreamLimit Limit => sender.Limit;

    public bool IsStable => sender.IsStable;

    /// <summary>The view of the topic's region; null while there is none.</summary>
    public RegionView? View => node.ViewOf(topic.Id) is { Regions: [var region, ..] } ? node.RegionOf(region) : null;

    /// <summary>The node has a new view of the topic, perhaps.</summary>
    public void SetMembers() => Confirmed.SetMembers(View is { } view ? view.Members.AsSpan() : []);

    /// <summary>Keeps receipts on disk before they are passed on; null: they are not kept.</summary>
    public ReceiptLog? Log { get; set; }

    public void OnReceipt(NodeKey member, long through)
    {
        if (Log is { } log)
        {
            log.Keep(member, through);
        }
        else
        {
            Pass(new KeptReceipt(node.Self, member, through));
        }
    }

    public void Pass(KeptReceipt receipt) =>
        (topic.Settings as ReceiptSettings)?.OnReceipt?.Invoke(
            new Receipt(topic.Name, IdOf(receipt.Publisher), IdOf(receipt.Member), receipt.Through));

    public long TrySend(ReadOnlySpan<byte> payload, IStabilityObserver? observer, ReadOnlySpan<byte> extensions = default)
    {
        long number = sender.TrySend(payload, observer, extensions);
        if (number > 0)
        {
            Confirmed.OnSent(number);
            onSent();
        }

        return number;
    }

    public int Touch() => sender.Touch();

    public bool AwaitRoom() => sender.AwaitRoom();

    public void ObserveTaken(IStabilityObserver observer, long number, bool isLast) => sender.ObserveTaken(observer, number, isLast);

    public void WhenStable(Action callback) => sender.WhenStable(callback);

    public void Close()
    {
        onClose();
        Log?.Close();
        sender.Close();
    }

    private static NodeId IdOf(NodeKey key) => new(key.Id, key.Incarnation);
}
