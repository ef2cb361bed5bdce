namespace QuickSilver.Multicast.Recovery;

// How long a view's members take to answer a pull, and so when to ask again: late enough that few packets are asked for twice.
internal sealed class PullClock(MulticastOptions options)
{
    private SmoothedTime _answer;

    public void OnAnswer(TimeSpan taken) => _answer.Add(taken);

    /// <summary>The wait after a request, when it is the n-th for the packet.</summary>
    public TimeSpan Wait(int asked)
    {
        var wait = _answer.Mean == TimeSpan.Zero ? options.PullRepeat : _answer.Mean + (_answer.Strays * 3);
        wait = wait > options.PullRepeatMin ? wait : options.PullRepeatMin;
        wait *= 1 << Math.Clamp(asked - 1, 0, 8);
        return wait < options.PullRepeatMax ? wait : options.PullRepeatMax;
    }
}
