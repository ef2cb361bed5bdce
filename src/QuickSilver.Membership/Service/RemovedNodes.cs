using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service;

// The lives that ended, so that one that comes back is told so instead of being taken for new. The oldest are forgotten.
internal sealed class RemovedNodes
{
    private const int MaxRemembered = 16_384;

    private readonly HashSet<NodeKey> _keys = [];
    private readonly Queue<NodeKey> _order = new();

    public void Add(NodeKey key)
    {
        if (!_keys.Add(key))
        {
            return;
        }

        _order.Enqueue(key);
        if (_order.Count > MaxRemembered)
        {
            _keys.Remove(_order.Dequeue());
        }
    }

    public bool Contains(NodeKey key) => _keys.Contains(key);
}
