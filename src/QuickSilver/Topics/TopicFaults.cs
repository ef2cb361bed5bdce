using QuickSilver.Core.Diagnostics;
using QuickSilver.Diagnostics;

namespace QuickSilver.Topics;

// The faults of an application's code and messages in a topic: counted for the node, and logged, as long as they are few. Core thread only.
internal static class TopicFaults
{
    public static void OnHandler(ITopicNode node, string topic, Exception exception, NodeId sender, long sequence)
    {
        if (RepeatedEvent.IsLogged(++node.CounterCells.HandlerFaults))
        {
            ApiLog.HandlerThrew(node.Log, exception, topic, node.Named(sender), sequence, node.CounterCells.HandlerFaults);
        }
    }

    public static void OnObserver(ITopicNode node, string topic, Exception exception)
    {
        if (RepeatedEvent.IsLogged(++node.CounterCells.HandlerFaults))
        {
            ApiLog.ObserverThrew(node.Log, exception, topic, node.CounterCells.HandlerFaults);
        }
    }

    public static void OnFeed(ITopicNode node, string topic, Exception exception)
    {
        if (RepeatedEvent.IsLogged(++node.CounterCells.FeedFaults))
        {
            ApiLog.FeedThrew(node.Log, exception, topic, node.CounterCells.FeedFaults);
        }
    }

    public static void OnDecode(ITopicNode node, string topic, Exception exception, NodeId sender, long sequence)
    {
        if (RepeatedEvent.IsLogged(++node.CounterCells.DecodeFaults))
        {
            ApiLog.PayloadUndecodable(node.Log, exception, topic, node.Named(sender), sequence, node.CounterCells.DecodeFaults);
        }
    }

    public static void OnTooLarge(ITopicNode node, string topic, int bytes, long limit, long times)
    {
        if (RepeatedEvent.IsLogged(times))
        {
            ApiLog.PublishImpossible(node.Log, topic, MessageTooLargeException.InWords(bytes, limit), times);
        }
    }
}
