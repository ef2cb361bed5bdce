using System.Collections.Concurrent;
using QuickSilver;

namespace CacheInvalidation;

// A cache in front of a slow store, in each of several processes. A process that changes a product publishes its id, and all drop their
// copy.
//
// What makes it correct: an id is published after the store has the new value, and a message that could not be delivered is reported as a
// gap. A cache that has a gap, or has lost its topic, knows that it may be wrong, and drops everything.
internal sealed class ProductCache : IDisposable
{
    private readonly ConcurrentDictionary<int, string> _products = new();
    private readonly Func<int, string> _load;
    private readonly IDisposable _subscription;
    private long _changes;

    public ProductCache(ITopicSubscriber<ProductChanged> changes, Func<int, string> load)
    {
        _load = load;
        // A handler: it runs on the node's core thread, and takes a microsecond.
        _subscription = changes.SubscribeInline(
            (in message) => Drop(message.Value.Id), onGap: _ => DropAll(), onEnded: _ => DropAll());
    }

    public string Get(int id)
    {
        if (_products.TryGetValue(id, out string? known))
        {
            return known;
        }

        long before = Interlocked.Read(ref _changes);
        string loaded = _load(id);
        _products[id] = loaded;
        // What was loaded while something changed may be old already: it is used once, and not kept. A change after this look removes it.
        if (Interlocked.Read(ref _changes) != before)
        {
            _products.TryRemove(id, out _);
        }

        return loaded;
    }

    public bool Contains(int id) => _products.ContainsKey(id);

    public void Dispose() => _subscription.Dispose();

    private void Drop(int id)
    {
        Interlocked.Increment(ref _changes);
        _products.TryRemove(id, out _);
    }

    private void DropAll()
    {
        Interlocked.Increment(ref _changes);
        _products.Clear();
    }
}
