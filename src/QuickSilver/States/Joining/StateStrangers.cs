using QuickSilver.Endpoints.Changes;

namespace QuickSilver.States.Joining;

// The members that a complete node knows nothing of: a part of the cluster that was cut off is back. Core thread only.
internal sealed class StateStrangers(NodeId self)
{
    private static readonly TimeSpan StrangerLimit = TimeSpan.FromSeconds(2);

    // Those that said hello or answered; the others are strangers some time after they have come.
    private readonly HashSet<NodeId> _known = [];
    private Dictionary<NodeId, TimeSpan>? _unknown;

    /// <summary>Whether there are members of which this node knows nothing.</summary>
    public bool IsAnyUnknown => _unknown is not null;

    /// <summary>The members have changed.</summary>
    public void Keep(SubscriberSet members) => _known.RemoveWhere(node => !members.Contains(node));

    /// <summary>The node is complete, and these are the members.</summary>
    public void NoteUnknown(SubscriberSet members, TimeSpan now)
    {
        foreach (var node in _unknown?.Keys.ToArray() ?? [])
        {
            if (!members.Contains(node))
            {
                Forget(node);
            }
        }

        foreach (var node in members.Nodes)
        {
            if (node != self && !_known.Contains(node))
            {
                (_unknown ??= []).TryAdd(node, now);
            }
        }
    }

    public void Know(NodeId node)
    {
        _known.Add(node);
        Forget(node);
    }

    /// <summary>Whether there are strangers. They are known from here on.</summary>
    public bool TryMeet(TimeSpan now)
    {
        var strangers = new List<NodeId>();
        foreach (var (node, since) in _unknown ?? [])
        {
            if (now - since >= StrangerLimit)
            {
                strangers.Add(node);
            }
        }

        strangers.ForEach(Know);
        return strangers.Count > 0;
    }

    private void Forget(NodeId node)
    {
        if (_unknown is not null && _unknown.Remove(node) && _unknown.Count == 0)
        {
            _unknown = null;
        }
    }
}
