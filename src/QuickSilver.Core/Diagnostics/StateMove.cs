namespace QuickSilver.Core.Diagnostics;

// What the types of states share: each of their moves is possible from some states only.
internal static class StateMove
{
    /// <summary>Checks a move.</summary>
    /// <param name="isLegal">Whether the state can make the move.</param>
    /// <param name="subject">Whose state it is, such as "stream".</param>
    /// <param name="state">The state.</param>
    /// <param name="move">The name of the move.</param>
    /// <exception cref="InvalidOperationException">The state cannot make the move.</exception>
    public static void Require<TState>(bool isLegal, string subject, in TState state, string move)
        where TState : struct
    {
        if (!isLegal)
        {
            throw new InvalidOperationException($"A {subject} that is {state} cannot make the move {move}.");
        }
    }
}
