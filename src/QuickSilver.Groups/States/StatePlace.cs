namespace QuickSilver.Groups.States;

// A place in the events of a group: behind all of the views before one, and in this view behind the messages of each sender up to a
// number. Members of the view have the same messages before it (virtual synchrony), so numbers of earlier views are not needed.
internal sealed class StatePlace
{
    private readonly Dictionary<NodeId, long> _through = [];

    /// <summary>The number of the view; 0 before the first.</summary>
    public long View { get; private set; }

    /// <summary>The last message of each sender in the view, in the order of their first ones.</summary>
    public IReadOnlyDictionary<NodeId, long> Through => _through;

    public static StatePlace At(long view)
    {
        var place = new StatePlace();
        place.Enter(view);
        return place;
    }

    /// <summary>Passes a view, which is later than the one before.</summary>
    public void Enter(long view)
    {
        View = view;
        _through.Clear();
    }

    /// <summary>Passes a message of the view.</summary>
    public void Pass(NodeId sender, long number) => _through[sender] = number;

    public bool Contains(long view, NodeId sender, long number) =>
        view < View || (view == View && number <= _through.GetValueOrDefault(sender));

    public bool ContainsView(long view) => view <= View;

    /// <summary>Whether the place is before a view, so that messages from before it may still come there.</summary>
    public bool IsBefore(long view) => View < view;

    /// <summary>Whether this place is behind all that the other one is behind.</summary>
    public bool Covers(StatePlace other)
    {
        if (IsBefore(other.View))
        {
            return false;
        }

        foreach (var (sender, number) in other._through)
        {
            if (!Contains(other.View, sender, number))
            {
                return false;
            }
        }

        return true;
    }

    public StatePlace Copy()
    {
        var copy = At(View);
        foreach (var (sender, number) in _through)
        {
            copy.Pass(sender, number);
        }

        return copy;
    }
}
