using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Protocol.Replies;

// The parts of configurations that were read last by the nodes that share this cache: a simulated cluster, a swarm. The service sends the
// same bytes to many nodes, and all but the first find what the first read. The latest parts are kept whatever their keys are: if one part
// could replace another before all nodes have read both, each node would read both again.
//
// The references are weak, and nodes with their own threads use the cache without a lock, as with SharedViews.
internal sealed class ConfigurationCache
{
    private const int Capacity = 256;

    // A part with a node's own content is shorter, and no other node receives it.
    private const int LeastSharedBytes = 128;

    // Beside the references, so that a search looks at one array. A key without its part, or a part without its key, is a miss.
    private readonly int[] _keys = new int[Capacity];
    private readonly WeakReference<ConfigurationMessage>?[] _parts = new WeakReference<ConfigurationMessage>?[Capacity];
    private uint _added;

    public SharedViews Views { get; } = new();

    /// <exception cref="QuickSilverException">The body is no part of a configuration.</exception>
    public ConfigurationMessage Read(ReadOnlySpan<byte> body)
    {
        if (body.Length < LeastSharedBytes)
        {
            return ConfigurationMessage.Read(body, Views);
        }

        // Parts that differ do so in their first bytes or in their length.
        var hash = new HashCode();
        hash.AddBytes(body[..LeastSharedBytes]);
        hash.Add(body.Length);
        int key = hash.ToHashCode();
        if (Find(key, body) is { } known)
        {
            return known;
        }

        var read = ConfigurationMessage.Read(body, Views);
        read.KeepBody(body);
        uint at = (Interlocked.Increment(ref _added) - 1) % Capacity;
        Volatile.Write(ref _parts[at], new WeakReference<ConfigurationMessage>(read));
        Volatile.Write(ref _keys[at], key);
        return read;
    }

    private ConfigurationMessage? Find(int key, ReadOnlySpan<byte> body)
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
}
