using System.Runtime.CompilerServices;
using QuickSilver.Core.Environment;

namespace QuickSilver.Multicast.Sending;

// In which packets of one stream the members learn where its topics begin.
internal sealed class TopicBeginnings
{
    private const int LeastTopics = 3;

    // The packet in which a topic's first message ends. That message carries the topic's start table.
    private readonly Dictionary<ulong, long> _starts = [];
    // The packet with the first mark of a best-effort topic. Null before the first.
    private Dictionary<ulong, long>? _marks;

    public bool HasStarted(ulong topicId) => _starts.ContainsKey(topicId);

    /// <summary>Whether one more topic needs larger memory.</summary>
    public bool IsTight => _starts.Count == _starts.Capacity;

    /// <summary>Makes room for one more topic, so that adding it cannot fail.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    public void Reserve(NodeHeap heap)
    {
        if (IsTight)
        {
            int topics = Math.Max(2 * _starts.Count, LeastTopics);
            heap.Ask(HeapUse.SenderTables, (long)topics * Unsafe.SizeOf<KeyValuePair<ulong, long>>());
            _starts.EnsureCapacity(topics);
        }
    }

    public bool IsMarked(ulong topicId) => _marks is not null && _marks.ContainsKey(topicId);

    public void AddStart(ulong topicId, long packet) => _starts.Add(topicId, packet);

    public void AddMark(ulong topicId, long packet) => (_marks ??= []).Add(topicId, packet);

    /// <summary>Whether members that hold the packets up to there know where the topic begins. True if it has not begun.</summary>
    public bool IsKnown(ulong topicId, long through) =>
        (!_starts.TryGetValue(topicId, out long packet) || through >= packet)
        && (_marks is null || !_marks.TryGetValue(topicId, out packet) || through >= packet);
}
