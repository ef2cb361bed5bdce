namespace QuickSilver.Membership.Regions.Sets;

// A key for finding equal topic sets: the sum of a 128-bit mix of each topic's number. It does not depend on the order, and an addition or
// removal changes it in one step. Different sets may have the same key, so a lookup must compare the sets.
internal readonly record struct TopicSetKey(ulong High, ulong Low)
{
    public static TopicSetKey operator +(TopicSetKey a, TopicSetKey b) => new(unchecked(a.High + b.High), unchecked(a.Low + b.Low));

    public static TopicSetKey operator -(TopicSetKey a, TopicSetKey b) => new(unchecked(a.High - b.High), unchecked(a.Low - b.Low));

    public static TopicSetKey OfTopic(ulong topicId) => new(Mix(topicId ^ 0x9E3779B97F4A7C15), Mix(topicId + 0xD1B54A32D192ED03));

    public override int GetHashCode() => unchecked((int)Low);

    // The finalizer of splitmix64: every bit of the input affects every bit of the output.
    private static ulong Mix(ulong z)
    {
        z = unchecked((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9);
        z = unchecked((z ^ (z >> 27)) * 0x94D049BB133111EB);
        return z ^ (z >> 31);
    }
}

// The topics that one node subscribes to.
internal sealed class TopicSet(Func<ulong, TopicSetKey> keyOfTopic)
{
    private readonly HashSet<ulong> _topics = [];

    public TopicSetKey Key { get; private set; }

    public int Count => _topics.Count;

    public bool Contains(ulong topicId) => _topics.Contains(topicId);

    public bool Add(ulong topicId)
    {
        if (!_topics.Add(topicId))
        {
            return false;
        }

        Key += keyOfTopic(topicId);
        return true;
    }

    public bool Remove(ulong topicId)
    {
        if (!_topics.Remove(topicId))
        {
            return false;
        }

        Key -= keyOfTopic(topicId);
        return true;
    }

    /// <summary>The topics in ascending order.</summary>
    public ulong[] ToSorted()
    {
        var sorted = new ulong[_topics.Count];
        _topics.CopyTo(sorted);
        Array.Sort(sorted);
        return sorted;
    }
}
