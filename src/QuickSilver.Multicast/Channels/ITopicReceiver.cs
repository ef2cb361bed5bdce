namespace QuickSilver.Multicast.Channels;

internal interface ITopicReceiver
{
    /// <summary>The topic's, for people; not kept by everyone.</summary>
    string? Name { get => null; set { } }

    /// <summary>The number of messages that the sink has taken. Lost ones are not among them.</summary>
    long Taken => 0;

    /// <summary>The sink has room again.</summary>
    void Resume();

    /// <summary>
    /// This node has left the topic with this configuration. The sink still takes what was sent to this subscription.
    /// </summary>
    /// <param name="configuration">The configuration, or one after it.</param>
    /// <param name="settled">Called when no sender sends to this subscription any more.</param>
    /// <param name="completed">Called after that, when all that was sent to it was handed up: nothing waits for room.</param>
    void AwaitLast(long configuration, Action settled, Action completed)
    {
        settled();
        completed();
    }

    /// <summary>By sender, what has come and the sink has not taken: a gap for one that will not take it any more.</summary>
    IReadOnlyList<UntakenRange> Untaken() => [];

    void Close();
}
