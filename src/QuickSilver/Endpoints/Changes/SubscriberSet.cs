namespace QuickSilver.Endpoints.Changes;

// The subscribers of a topic in one view, in ascending order. Its content never changes, so any thread may keep it.
internal sealed class SubscriberSet(NodeId[] nodes)
{
    public static readonly Comparer<NodeId> Order = Comparer<NodeId>.Create(static (a, b) =>
    {
        int byId = a.Id.CompareTo(b.Id);
        return byId != 0 ? byId : a.Incarnation.CompareTo(b.Incarnation);
    });

    public static SubscriberSet Empty { get; } = new([]);

    public ReadOnlySpan<NodeId> Nodes => nodes;

    public int Count => nodes.Length;

    public bool Contains(NodeId node) => IndexOf(node) >= 0;

    /// <summary>The place of the node; negative if it does not subscribe.</summary>
    public int IndexOf(NodeId node) => Array.BinarySearch(nodes, node, Order);
}

// What a node wants to know of a topic's subscribers. Core thread only, unless stated otherwise.
internal interface ISubscriberInterest
{
    /// <summary>From any thread: the subscribers of the last view that this node has applied, after <see cref="Follow"/>.</summary>
    SubscriberSet Current { get; }

    /// <summary>From any thread: whether this node has applied a view of the topic, after <see cref="Follow"/>.</summary>
    bool IsKnown { get; }

    /// <summary>From now on the set is kept up to date, until the topic is closed.</summary>
    /// <param name="changed">Called after each change.</param>
    void Follow(Action? changed = null);

    /// <summary>Completes the task when there are so many subscribers, or fails it when the endpoint ends before.</summary>
    void Await(TopicEndpoint endpoint, int count, TaskCompletionSource done);

    /// <summary>Reports the subscribers and their changes to the watch, until the endpoint ends.</summary>
    void Add(TopicEndpoint endpoint, SubscriberWatch watch);

    void Remove(SubscriberWatch watch);
}
