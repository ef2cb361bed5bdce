using QuickSilver.Endpoints;

namespace QuickSilver.States.Joining;

// Refuses changes with a number that cannot have been counted: it would be the last one of all nodes. Core thread only.
internal sealed class StateAdmission<TKey, TValue>(IEndpointNode core, IStateWire<TKey, TValue> wire, StateClock clock)
    where TKey : notnull
{
    private readonly StateRefusals _refusals = new(core, wire.Name);
    // Whether it knows how old the state is, and whether it has refused a change before.
    private bool _knowsAge;
    private bool _refusedEarly;

    /// <summary>False if the change is refused.</summary>
    public bool TryMerge(NodeId sender, StateEntry<TKey, TValue> entry)
    {
        long counter = entry.Stamp.Counter;
        if (clock.IsPlausible(counter))
        {
            wire.Merge(entry);
            return true;
        }

        if (_knowsAge)
        {
            _refusals.Add(sender, counter, clock.Limit + StateClock.Margin);
        }
        else
        {
            _refusedEarly = true;
        }

        return false;
    }

    /// <summary>There is no other node that could know how old the state is.</summary>
    public void KnowAge() => _knowsAge = true;

    /// <summary>
    /// The others say how old the state is. False if a change was refused before: it may have been sent after a mark, so that it is not in
    /// what is given now, and all is asked for again.
    /// </summary>
    public bool TryTakeAge(int seconds)
    {
        clock.OnAge(seconds);
        bool isInTime = _knowsAge || !_refusedEarly;
        _knowsAge = true;
        return isInTime;
    }

    public void Close() => _refusals.Close();
}
