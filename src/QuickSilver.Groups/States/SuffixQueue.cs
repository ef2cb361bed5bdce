namespace QuickSilver.Groups.States;

// The events that a member has got while it waits for the state, in order. It is bounded: when it is full, all of it is dropped, and only a
// state that contains what was dropped can be used.
/// <param name="mostEvents">The maximum number of events.</param>
/// <param name="mostBytes">The maximum size of their messages in bytes.</param>
/// <param name="removed">Called with each event that is removed and was not taken.</param>
internal sealed class SuffixQueue<TEvent>(int mostEvents, long mostBytes, Action<TEvent>? removed = null)
{
    private readonly Queue<(TEvent Event, long View, NodeId Sender, long Number, int Bytes)> _events = new();
    private long _bytes;

    /// <summary>What a state must contain so that it can be used with these events.</summary>
    public StatePlace Needed { get; private set; } = new();

    public int Count => _events.Count;

    public bool IsFull => _events.Count >= mostEvents || _bytes >= mostBytes;

    /// <summary>Adds a view (number 0) or a message.</summary>
    public void Add(TEvent one, long view, NodeId sender, long number, int bytes)
    {
        _events.Enqueue((one, view, sender, number, bytes));
        _bytes += bytes;
    }

    /// <summary>Begins again with a view: what came before it is void.</summary>
    public void Begin(long view)
    {
        Clear();
        Needed = StatePlace.At(view);
    }

    /// <summary>Drops all events.</summary>
    public void Drop()
    {
        foreach (var (_, view, sender, number, _) in _events)
        {
            Miss(view, sender, number);
        }

        Clear();
    }

    /// <summary>The member did not get a message or a view, so the state must contain it.</summary>
    public void Miss(long view, NodeId sender, long number)
    {
        if (view > Needed.View)
        {
            Needed.Enter(view);
        }

        if (number > 0)
        {
            Needed.Pass(sender, number);
        }
    }

    /// <summary>Removes what the state contains. Events of the views before its own are removed too.</summary>
    public void RemoveContained(StatePlace place)
    {
        for (int rest = _events.Count; rest > 0; rest--)
        {
            var one = _events.Dequeue();
            bool isContained = one.Number > 0 ? place.Contains(one.View, one.Sender, one.Number) : place.ContainsView(one.View);
            if (isContained)
            {
                _bytes -= one.Bytes;
                removed?.Invoke(one.Event);
            }
            else
            {
                _events.Enqueue(one);
            }
        }
    }

    public bool TryTake(out TEvent one, out long number)
    {
        bool isTaken = _events.TryDequeue(out var taken);
        (one, number) = (taken.Event, taken.Number);
        _bytes -= taken.Bytes;
        return isTaken;
    }

    private void Clear()
    {
        foreach (var one in _events)
        {
            removed?.Invoke(one.Event);
        }

        _events.Clear();
        _bytes = 0;
    }
}
