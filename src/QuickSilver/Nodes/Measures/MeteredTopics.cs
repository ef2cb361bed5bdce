using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;
using QuickSilver.Topics;

namespace QuickSilver.Nodes.Measures;

// The counts of topics by name, for the meter. Topics count what they send and receive, but only as long as they are open, and only the
// core thread may read it. So the core thread brings the counts here when its pulse comes, and before a topic's count ends.
//
// The first topics that are opened get a series each, for the life of the node. The others share one, so that the number of series has a
// limit whatever the application opens.
internal sealed class MeteredTopics(int most, IReadOnlyList<TopicCore> topics, EndpointRegistry endpoints)
{
    /// <summary>The name of the series that the others share, as OpenTelemetry calls what a limit leaves out.</summary>
    public const string Others = "_OTHER";

    // Topics of the library itself: each node has one of its own, so they would use up the names.
    private const string OwnPrefix = "quicksilver/";

    private readonly Lock _lock = new();
    private readonly Dictionary<string, Series> _named = new(StringComparer.Ordinal);
    private readonly Series _others = new();
    // What each open topic had counted when it was last read. Core thread.
    private readonly Dictionary<TopicCore, (long Published, long Delivered, long Lost)> _before = [];

    /// <summary>Core thread: reads all topics.</summary>
    public void Note()
    {
        for (int i = 0; i < topics.Count; i++)
        {
            Note(topics[i]);
        }
    }

    /// <summary>Core thread: the topic has a new sender. It continues the count if this node had one before.</summary>
    public void OnCountBegins(TopicCore topic, long published) =>
        _before[topic] = _before.GetValueOrDefault(topic) with { Published = published };

    /// <summary>Core thread: the topic's sender or receiver is about to be closed. Another one counts from the beginning.</summary>
    public void OnCountEnds(TopicCore topic, bool isSender)
    {
        Note(topic);
        var before = _before[topic];
        _before[topic] = isSender ? before with { Published = 0 } : before with { Delivered = 0 };
    }

    /// <summary>Core thread: the topic is closed.</summary>
    public void Forget(TopicCore topic) => _before.Remove(topic);

    /// <summary>From any thread.</summary>
    public IReadOnlyList<TopicCounts> Read()
    {
        var counts = new List<TopicCounts>();
        lock (_lock)
        {
            endpoints.ReadWaiting((name, waiting) => Of(name).Waiting += waiting);
            foreach (var (name, series) in _named)
            {
                counts.Add(series.Take(name));
            }

            counts.Add(_others.Take(Others));
        }

        return counts;
    }

    private void Note(TopicCore topic)
    {
        var now = (topic.Published, topic.Delivered, topic.Lost);
        var before = _before.GetValueOrDefault(topic);
        _before[topic] = now;
        lock (_lock)
        {
            var series = Of(topic.Name);
            series.Published += Math.Max(0, now.Published - before.Published);
            series.Delivered += now.Delivered - before.Delivered;
            series.Lost += now.Lost - before.Lost;
        }
    }

    // Under the lock.
    private Series Of(string name)
    {
        if (_named.TryGetValue(name, out var known))
        {
            return known;
        }

        return _named.Count >= most || name.StartsWith(OwnPrefix, StringComparison.Ordinal) ? _others : _named[name] = new Series();
    }

    private sealed class Series
    {
        public long Published { get; set; }

        public long Delivered { get; set; }

        public long Lost { get; set; }

        public long Waiting { get; set; }

        public TopicCounts Take(string name)
        {
            var counts = new TopicCounts(name, Published, Delivered, Lost, Waiting);
            Waiting = 0;
            return counts;
        }
    }
}
