namespace QuickSilver.States;

// The number of a change and its node. They are in a total order that is the same everywhere: the highest wins.
internal readonly record struct StateStamp(long Counter, NodeId Origin) : IComparable<StateStamp>
{
    /// <summary>A counter cannot come near its end by counting; one that does was not counted.</summary>
    public const long MaxCounter = 1L << 60;

    /// <summary>Below that of each change: no node has this identity, and 1 is the first number.</summary>
    public static readonly StateStamp BeforeAll = new(1, default);

    public int CompareTo(StateStamp other)
    {
        int byCounter = Counter.CompareTo(other.Counter);
        if (byCounter != 0)
        {
            return byCounter;
        }

        int byId = Origin.Id.CompareTo(other.Origin.Id);
        return byId != 0 ? byId : Origin.Incarnation.CompareTo(other.Origin.Incarnation);
    }
}

// The last change of a key. It never changes itself, so it is compared by reference.
internal sealed class StateEntry<TKey, TValue>(TKey key, TValue? value, bool isRemoved, StateStamp stamp)
{
    public TKey Key => key;

    public TValue? Value => value;

    public bool IsRemoved => isRemoved;

    public StateStamp Stamp => stamp;
}
