namespace QuickSilver.Multicast.Ordering;

// The next message of a sender in a reliable topic while later ones are here, for the watch on what waits.
internal sealed class AwaitedMessage(TopicReceiver topic, SenderOrder order)
{
    public TopicReceiver Topic => topic;

    public SenderOrder Order => order;

    /// <summary>Which message it is.</summary>
    public string InWords => order.Next == 0 ? "the first message" : $"message {order.Next}";

    /// <summary>It has waited for long: ends the wait if nothing can bring the message any more.</summary>
    public void EndIfLost() => topic.GiveUpUnaccounted(order);
}
