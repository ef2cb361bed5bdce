namespace QuickSilver.Groups;

/// <summary>A node's membership in a group whose state is a value that the events change.</summary>
/// <typeparam name="TState">The type of the state.</typeparam>
/// <typeparam name="TMessage">The type of the messages.</typeparam>
public interface IStateGroup<TState, TMessage> : IGroup<TMessage>
{
    /// <summary>
    /// The state after the events so far, from any thread. It is a snapshot: a later event replaces it. After the end of the group, the
    /// last one.
    /// </summary>
    TState State { get; }
}
