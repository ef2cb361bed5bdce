namespace QuickSilver.Membership.Protocol.Replies;

// The parts that were read last in this process, found by what they were read from. The latest 256, whatever their keys: parts that all
// nodes read by turns would each be read by every node if one could push another out. From any thread, without a lock: who misses a part
// reads it, and nothing is kept that no node has.
internal sealed class RecentParts
{
    public const int Capacity = 256;

    // Beside the references, so that a search looks at one array; a key without its part, or a part without its key, is a miss.
    private readonly int[] _keys = new int[Capacity];
    private readonly WeakReference<ConfigurationMessage>?[] _parts = new WeakReference<ConfigurationMessage>?[Capacity];
    private uint _added;

    public ConfigurationMessage? Find(int key, ReadOnlySpan<byte> body)
    {
        int from = 0;
        for (int found; (found = _keys.AsSpan(from).IndexOf(key)) >= 0; from += found + 1)
        {
            if (Volatile.Read(ref _parts[from + found]) is { } part && part.TryGetTarget(out var known) && known.WasReadFrom(body))
            {
                return known;
            }
        }

        return null;
    }

    public void Add(int key, ConfigurationMessage part)
    {
        uint at = (Interlocked.Increment(ref _added) - 1) % Capacity;
        Volatile.Write(ref _parts[at], new WeakReference<ConfigurationMessage>(part));
        Volatile.Write(ref _keys[at], key);
    }
}
