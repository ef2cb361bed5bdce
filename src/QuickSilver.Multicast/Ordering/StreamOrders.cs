using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.Ordering;

// One sender's runs in the topics of this node, as its stream looks them up. With thousands of topics, the objects of a topic are not in
// the processor's cache when its next message arrives, and each object that a message reads costs as much as the rest of its processing. A
// message that arrives in order therefore reads only an entry here and its SenderOrder, and no other object of this layer.
//
// This is a fast path only: a message whose topic is not found here takes the slow path, which adds the entry. The entries of runs that are
// over are stale. Their orders report that (IsOver), and the entries are removed when the table grows.
internal sealed class StreamOrders
{
    private const ulong Spread = 0x9E37_79B9_7F4A_7C15;

    private Entry[] _entries = new Entry[16];
    private int _count;

    /// <summary>The runs of a stream; null before the first.</summary>
    public static StreamOrders? Of(ConsumedStream stream) => (StreamOrders?)stream.Above;

    public static void Note(ConsumedStream stream, ulong topicId, SenderOrder order)
    {
        stream.Above ??= new StreamOrders();
        Of(stream)!.Set(topicId, order);
    }

    public int Count => _count;

    public SenderOrder? Find(ulong topicId)
    {
        var entries = _entries;
        for (int i = Place(topicId, entries.Length); ; i = (i + 1) & (entries.Length - 1))
        {
            ref readonly var entry = ref entries[i];
            if (entry.TopicId == topicId || entry.Order is null)
            {
                return entry.Order;
            }
        }
    }

    public void Set(ulong topicId, SenderOrder order)
    {
        if (_count >= _entries.Length / 2)
        {
            Rebuild();
        }

        Put(topicId, order);
    }

    private void Put(ulong topicId, SenderOrder order)
    {
        int i = Place(topicId, _entries.Length);
        while (_entries[i].Order is not null && _entries[i].TopicId != topicId)
        {
            i = (i + 1) & (_entries.Length - 1);
        }

        _count += _entries[i].Order is null ? 1 : 0;
        _entries[i] = new Entry { TopicId = topicId, Order = order };
    }

    private void Rebuild()
    {
        var old = _entries;
        int live = 0;
        foreach (var entry in old)
        {
            live += entry.Order is { IsOver: false } ? 1 : 0;
        }

        _entries = new Entry[live >= old.Length / 4 ? old.Length * 2 : old.Length];
        _count = 0;
        foreach (var entry in old)
        {
            if (entry.Order is { IsOver: false } order)
            {
                Put(entry.TopicId, order);
            }
        }
    }

    private static int Place(ulong topicId, int length) => (int)((topicId * Spread) >> 32) & (length - 1);

    private struct Entry
    {
        public ulong TopicId;
        public SenderOrder? Order;
    }
}
