using QuickSilver.Endpoints.Changes;

namespace QuickSilver.States;

// What the joining needs of its state. Core thread only.
internal interface IStateWire<TKey, TValue>
    where TKey : notnull
{
    string Name { get; }

    NodeId Self { get; }

    int Box { get; }

    SubscriberSet Members { get; }

    /// <summary>Whether the members are those of the topic's last view.</summary>
    bool KnowsAllMembers { get; }

    /// <summary>Sends in the topic, after all that was sent before.</summary>
    void Send(in StateMessage<TKey, TValue> message);

    bool Merge(StateEntry<TKey, TValue> entry);

    void OnComplete();
}
