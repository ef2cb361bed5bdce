namespace QuickSilver;

/// <summary>
/// A reader with the policy <see cref="SlowReaderPolicy.Wait"/> held its topic's senders back for longer than
/// <see cref="TopicOptions.SlowReaderLimit"/>: its endpoint has left the topic. What was sent and not delivered was told as gaps.
/// </summary>
public sealed class SlowReaderException : InvalidOperationException
{
    internal SlowReaderException(string topic, TimeSpan limit)
        : base($"The reader of the topic \"{topic}\" held its senders back for {limit:c} ({nameof(TopicOptions.SlowReaderLimit)}), and its "
            + "endpoint was dropped from the topic. Read faster, choose a dropping policy or a longer limit, and open the topic again.")
    {
    }
}
