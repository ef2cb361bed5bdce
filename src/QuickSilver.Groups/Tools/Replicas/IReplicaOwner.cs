namespace QuickSilver.Groups.Tools.Replicas;

// The tool around a replica. The calls come one at a time, in the order of the events, without a lock and outside the core thread.
internal interface IReplicaOwner
{
    /// <summary>The state may have changed.</summary>
    void OnChanged();

    /// <summary>
    /// This member was removed from the group and has come back, with the state of another member or with its own. What the group held
    /// for it is void. Called before <see cref="OnChanged"/>.
    /// </summary>
    void OnReplaced();

    /// <summary>The group has ended on this node, for the reason that its calls throw. Called once.</summary>
    void OnEnded(Exception reason);
}
