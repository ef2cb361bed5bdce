namespace QuickSilver.Tool.Watching;

// The lines of each topic of some prefixes. Topics come and go, so what is kept of one that is closed is forgotten. Its buffered messages
// come after that, so it is forgotten when none has come for a while. Thread-safe.
internal sealed class PrefixLines(WatchedLines lines)
{
    private const int RestMilliseconds = 10_000;

    private readonly Dictionary<string, Topic> _topics = new(StringComparer.Ordinal);
    private readonly List<Topic> _closed = [];

    public void OnTopic(PrefixTopic reported)
    {
        lock (_topics)
        {
            switch (reported.State)
            {
                case PrefixTopicState.Opening:
                    Find(reported.Name).Subscriptions++;
                    break;
                case PrefixTopicState.Closed:
                    var topic = Find(reported.Name);
                    topic.Subscriptions--;
                    Rest(topic);
                    break;
                default:
                    break;
            }
        }
    }

    public async ValueTask WriteAsync(string name, Message<ReadOnlyMemory<byte>> message)
    {
        Topic topic;
        lock (_topics)
        {
            topic = Find(name);
            topic.Writes++;
        }

        // A topic may be of several of the prefixes.
        await topic.Turn.WaitAsync();
        try
        {
            await (topic.Lines ??= lines.Of(name)).WriteAsync(message);
        }
        finally
        {
            topic.Turn.Release();
            lock (_topics)
            {
                topic.Writes--;
                Rest(topic);
            }
        }
    }

    /// <summary>Called from time to time: forgets what is closed.</summary>
    public void ForgetClosed()
    {
        lock (_topics)
        {
            _closed.RemoveAll(topic =>
            {
                topic.IsResting = topic.IsUnused && Environment.TickCount64 - topic.UnusedSince < RestMilliseconds;
                if (topic.IsUnused && !topic.IsResting)
                {
                    _topics.Remove(topic.Name);
                    topic.Dispose();
                }

                return !topic.IsResting;
            });
        }
    }

    private Topic Find(string name)
    {
        if (!_topics.TryGetValue(name, out var topic))
        {
            _topics.Add(name, topic = new Topic(name));
        }

        return topic;
    }

    private void Rest(Topic topic)
    {
        if (topic.IsUnused)
        {
            topic.UnusedSince = Environment.TickCount64;
            if (!topic.IsResting)
            {
                topic.IsResting = true;
                _closed.Add(topic);
            }
        }
    }

    private sealed class Topic(string name) : IDisposable
    {
        public string Name => name;

        public SemaphoreSlim Turn { get; } = new(1);

        public TopicLines? Lines { get; set; }

        /// <summary>By how many of the prefixes it is subscribed.</summary>
        public int Subscriptions { get; set; }

        public int Writes { get; set; }

        public bool IsUnused => Subscriptions == 0 && Writes == 0;

        public long UnusedSince { get; set; }

        /// <summary>It is among those that are forgotten after a while.</summary>
        public bool IsResting { get; set; }

        public void Dispose()
        {
            Lines?.Dispose();
            Turn.Dispose();
        }
    }
}
