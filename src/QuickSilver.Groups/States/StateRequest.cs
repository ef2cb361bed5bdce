namespace QuickSilver.Groups.States;

// What another node asks a member: the state, in a view or a later one.
internal sealed class StateRequest(NodeId taker, long view, TaskCreationOptions completions)
{
    private readonly TaskCompletionSource<StateAnswer> _answer = new(completions);
    private volatile bool _isAbandoned;

    public NodeId Taker => taker;

    public long View => view;

    public Task<StateAnswer> Answered => _answer.Task;

    /// <summary>Whether the node does not wait for it any more. From any thread.</summary>
    public bool IsAbandoned => _isAbandoned;

    /// <summary>Core thread.</summary>
    public void Answer(StateAnswer answer) => _answer.TrySetResult(answer);

    public void Abandon() => _isAbandoned = true;
}
