namespace QuickSilver.Multicast.Sending;

// In which packets of one stream the members learn where its topics begin.
internal sealed class TopicBeginnings
{
    // The packet in which a topic's first message ends. That message carries the topic's start table.
    private readonly Dictionary<ulong, long> _starts = [];
    // The packet with the first mark of a best-effort topic. Null before the first.
    private Dictionary<ulong, long>? _marks;

    public bool HasStarted(ulong topicId) => _starts.ContainsKey(topicId);

    public bool IsMarked(ulong topicId) => _marks is not null && _marks.ContainsKey(topicId);

    public void AddStart(ulong topicId, long packet) => _starts.Add(topicId, packet);

    public void AddMark(ulong topicId, long packet) => (_marks ??= []).Add(topicId, packet);

    /// <summary>Whether members that hold the packets up to there know where the topic begins. True if it has not begun.</summary>
    public bool IsKnown(ulong topicId, long through) =>
        (!_starts.TryGetValue(topicId, out long packet) || through >= packet)
        && (_marks is null || !_marks.TryGetValue(topicId, out packet) || through >= packet);
}
