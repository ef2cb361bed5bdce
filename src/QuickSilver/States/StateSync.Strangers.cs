namespace QuickSilver.States;

// The members that a complete node knows nothing of: a part of the cluster that was cut off is back.
internal sealed partial class StateSync<TKey, TValue>
{
    private static readonly TimeSpan StrangerLimit = TimeSpan.FromSeconds(2);

    // Those that said hello or answered; the others are strangers some time after they have come.
    private readonly HashSet<NodeId> _known = [];
    private Dictionary<NodeId, TimeSpan>? _unknown;

    private void NoteUnknown()
    {
        foreach (var node in _unknown?.Keys.ToArray() ?? [])
        {
            if (!_members.Contains(node))
            {
                Forget(node);
            }
        }

        foreach (var node in _members.Nodes)
        {
            if (node != Self && !_known.Contains(node))
            {
                (_unknown ??= []).TryAdd(node, Now);
            }
        }
    }

    private void Know(NodeId node)
    {
        _known.Add(node);
        Forget(node);
    }

    private void Forget(NodeId node)
    {
        if (_unknown is not null && _unknown.Remove(node) && _unknown.Count == 0)
        {
            _unknown = null;
        }
    }

    private void LookForStrangers()
    {
        var strangers = new List<NodeId>();
        foreach (var (node, since) in _unknown ?? [])
        {
            if (Now - since >= StrangerLimit)
            {
                strangers.Add(node);
            }
        }

        if (strangers.Count > 0)
        {
            strangers.ForEach(Know);
            _isComplete = false;
            Hello();
        }
    }
}
