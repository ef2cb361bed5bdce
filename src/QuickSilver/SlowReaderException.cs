namespace QuickSilver;

/// <summary>
/// The exception that is thrown when a reader with the policy <see cref="SlowReaderPolicy.Wait"/> blocked the senders of its topic for
/// longer than <see cref="TopicOptions.SlowReaderLimit"/>. Its endpoint has left the topic. Messages that were sent and not delivered were
/// reported as gaps.
/// </summary>
public sealed class SlowReaderException : QuickSilverException
{
    internal SlowReaderException(string topic, TimeSpan limit)
        : base($"The reader of the topic \"{topic}\" blocked its senders for {limit:c} ({nameof(TopicOptions.SlowReaderLimit)}), and its "
            + "endpoint was closed. Read faster, or open the topic again with a dropping policy or a longer limit.")
    {
        Topic = topic;
        Limit = limit;
    }

    /// <summary>The name of the topic.</summary>
    public string Topic { get; }

    /// <summary>How long the reader may block the senders (<see cref="TopicOptions.SlowReaderLimit"/>).</summary>
    public TimeSpan Limit { get; }
}
