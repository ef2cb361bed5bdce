namespace QuickSilver.Groups.States;

// A member with a state, as its node's core thread knows it. The calls come on the core thread and do not wait.
internal interface IStateMember
{
    /// <summary>The time outside the core thread.</summary>
    TimeProvider Time { get; }

    TaskCreationOptions Completions { get; }

    bool ResumesInContext { get; }

    /// <summary>The maximum size of the state in bytes.</summary>
    long MostBytes { get; }

    /// <summary>Whether this member has the state. From any thread.</summary>
    bool HasState { get; }

    /// <summary>Another node asks for the state. It is answered between two events.</summary>
    void OnAsked(StateRequest request);

    /// <summary>The state of another member came.</summary>
    void OnState(NodeId donor, StatePlace place, ReadOnlyMemory<byte> state);

    /// <summary>This node is the oldest member of the view, and no other member has the state in it.</summary>
    void OnNoState(long view);

    /// <summary>The state is larger than the other member may give, or than this one may take.</summary>
    void OnTooLarge(NodeId donor, long size, long limit);

    /// <summary>The state will not come: this node gets no letters any more.</summary>
    void OnUnattainable(Exception reason);
}
