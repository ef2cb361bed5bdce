namespace QuickSilver.Tool.Watching;

/// <summary>What is subscribed.</summary>
/// <param name="Names">Of topics, or what they begin with.</param>
/// <param name="Assumed">The guarantee of a topic that no node has open. Null: reliable, which is said.</param>
/// <param name="Waits">Whether senders wait for a slow output.</param>
internal sealed record WatchPlan(string[] Names, Guarantee? Assumed, bool Waits)
{
    // A pager that is behind loses nothing of a short burst.
    private const int Capacity = 65_536;
    // Of each of many.
    private const int CapacityOfPrefix = 4_096;

    /// <summary>A command that only watches does not delay senders, unless that was asked for.</summary>
    public TopicOptions AsReader(TopicOptions topic) => AsReader(topic, Capacity);

    public TopicOptions OfPrefix(Guarantee guarantee) => AsReader(new TopicOptions { Guarantee = guarantee }, CapacityOfPrefix);

    private TopicOptions AsReader(TopicOptions topic, int capacity)
    {
        if (Waits)
        {
            return topic;
        }

        var reader = topic.Copy();
        reader.SlowReader = SlowReaderPolicy.DropOldest;
        reader.ReaderCapacity = capacity;
        return reader;
    }
}

// What is subscribed, and ends.
internal interface ITopicWatch : IAsyncDisposable
{
    /// <summary>Completes when no more messages can come, with what went wrong. It does not complete otherwise.</summary>
    Task Ended { get; }

    Task BeginAsync();

    /// <summary>
    /// Ends the subscriptions, and waits so long for what came before to be written. False: the output stands still, and not all of it was.
    /// </summary>
    Task<bool> StopAsync(TimeSpan limit);
}
