namespace QuickSilver.Transfers;

// How long a node waits before it asks others again for what it lacks: the longer the more often it has failed, and the longer it took to
// get what it could not use.
internal struct RetryPause
{
    private static readonly TimeSpan FirstPause = TimeSpan.FromMilliseconds(100);
    // After so many attempts in a row, each pause is twice as long as the one before, up to the longest.
    private const int EvenAttempts = 5;
    private static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(5);
    // Where this node can take no use of what is given, it asks for it again after a multiple of the time that it took, up to the longest:
    // what is large is given as long as the cause lasts, to each node that has it.
    private const int UselessTimes = 20;
    private static readonly TimeSpan LongestUselessPause = TimeSpan.FromMinutes(1);

    // The least pause before the next attempt.
    private TimeSpan _useless;

    /// <summary>The attempts since the last one that led to something.</summary>
    public int Attempts { get; private set; }

    public void OnAttempt() => Attempts++;

    public void OnProgress() => Attempts = 0;

    /// <summary>What was given could not be used. It took this time.</summary>
    public void OnUseless(TimeSpan taken)
    {
        var pause = taken * UselessTimes;
        _useless = pause < LongestUselessPause ? pause : LongestUselessPause;
    }

    public void EndUseless() => _useless = default;

    public readonly bool IsOver(TimeSpan age) => age >= PauseAfter(Attempts) && age >= _useless;

    private static TimeSpan PauseAfter(int attempts) => attempts <= EvenAttempts
        ? FirstPause
        : TimeSpan.FromTicks(Math.Min(LongestPause.Ticks, FirstPause.Ticks << Math.Min(attempts - EvenAttempts, 10)));
}
