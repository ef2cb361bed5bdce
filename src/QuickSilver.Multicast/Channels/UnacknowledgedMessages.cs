namespace QuickSilver.Multicast.Channels;

// The messages in packets that not all members are known to hold, by topic (I25). Streams do not count them: their packets are read once,
// when the node ends and a message that is not acknowledged by then may never arrive.
//
// A message goes into a stream for each region of its topic, and counts once.
internal sealed class UnacknowledgedMessages
{
    private readonly SortedDictionary<ulong, (HashSet<long> Numbers, string WaitsFor)> _topics = [];

    /// <summary>
    /// The topics in the order of their ids, with the number of messages and what the first stream with one of them waits for.
    /// </summary>
    public IEnumerable<UnacknowledgedTopic> Topics =>
        _topics.Select(static one => new UnacknowledgedTopic(one.Key, one.Value.Numbers.Count, one.Value.WaitsFor));

    /// <summary>Adds a message that begins in a packet which is no longer kept.</summary>
    public void Add(in CutMessage message, string waitsFor) => Add(message.Topic, message.Number, waitsFor);

    /// <summary>Adds the messages that begin in a packet.</summary>
    public void Add(ReadOnlySpan<byte> packet, string waitsFor)
    {
        for (var messages = new PacketParser(packet); messages.MoveNext();)
        {
            Add(messages.Topic, messages.Number, waitsFor);
        }
    }

    private void Add(ulong topic, long number, string waitsFor)
    {
        // A sender's own messages are not the application's.
        if (topic == MessageHeader.MarkTopic)
        {
            return;
        }

        if (!_topics.TryGetValue(topic, out var known))
        {
            _topics.Add(topic, known = ([], waitsFor));
        }

        known.Numbers.Add(number);
    }
}

internal readonly record struct UnacknowledgedTopic(ulong Topic, long Messages, string WaitsFor);

// A message whose first packets all members hold, and the others not. Its header is in a packet that may no longer be kept.
internal readonly record struct CutMessage(ulong Topic, long Number);
