namespace QuickSilver.States.Joining;

// How long a node waits before it says hello again: the longer the more often it has failed, and the longer what it asked for in vain took.
internal struct StatePause
{
    private static readonly TimeSpan RetryPause = TimeSpan.FromMilliseconds(100);
    // After so many attempts in a row, each pause is twice as long as the one before, up to the longest.
    private const int EvenAttempts = 5;
    private static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(5);
    // Where this node can take no use of what is given, it asks for it again after a multiple of the time that it took, up to the longest:
    // what is large is given as long as the cause lasts, to each node that has it.
    private const int UselessTimes = 20;
    private static readonly TimeSpan LongestUselessPause = TimeSpan.FromMinutes(1);

    // The least pause before the next hello.
    private TimeSpan _useless;

    /// <summary>The attempts since the node was complete.</summary>
    public int Attempts { get; private set; }

    public void OnAttempt() => Attempts++;

    public void OnComplete() => Attempts = 0;

    /// <summary>What was given could not be used. It took this time.</summary>
    public void OnUseless(TimeSpan taken)
    {
        var pause = taken * UselessTimes;
        _useless = pause < LongestUselessPause ? pause : LongestUselessPause;
    }

    public void EndUseless() => _useless = default;

    public readonly bool IsOver(TimeSpan age) => age >= PauseAfter(Attempts) && age >= _useless;

    private static TimeSpan PauseAfter(int attempts) => attempts <= EvenAttempts
        ? RetryPause
        : TimeSpan.FromTicks(Math.Min(LongestPause.Ticks, RetryPause.Ticks << Math.Min(attempts - EvenAttempts, 10)));
}
