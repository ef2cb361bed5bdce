namespace QuickSilver.Core.Loop;

// Decides when to rest a moment instead of blocking until the next datagram.
//
// Intuition: waking a thread costs about as much as a datagram. Under a steady stream a thread that blocks after each
// datagram pays that for each; one that rests for a fraction of a millisecond finds many, for one wake.
//
// What goes wrong: a quick exchange of single messages also wakes the thread often, and there a rest only adds delay. So a
// rest must prove itself: one that gathered little ends the resting and puts off the next try, each time for longer.
internal sealed class WakeModeration(TimeSpan longestNap)
{
    // That many wakes in a row, each sooner than a nap would have lasted, are a stream and not a coincidence.
    private const int QuickWakesBeforeNap = 8;
    // A nap that saved fewer wakes than this was not worth its delay.
    private const int FruitfulRuns = 4;
    private static readonly TimeSpan FirstPenalty = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan LongestPenalty = TimeSpan.FromSeconds(1);

    // A wait shorter than this found something waiting: no wake was paid for, and none can be saved.
    private static readonly TimeSpan ShortestSleep = TimeSpan.FromMicroseconds(5);

    private int _quickWakes;
    private bool _hasNapped;
    private TimeSpan _penalty = FirstPenalty;
    private TimeSpan _notBefore;

    /// <summary>Whether to rest before blocking.</summary>
    public bool IsNapDue(TimeSpan now) => _quickWakes == QuickWakesBeforeNap && now >= _notBefore;

    /// <summary>A rest begins; how long it is to be.</summary>
    public TimeSpan BeginNap()
    {
        _hasNapped = true;
        return longestNap;
    }

    /// <summary>The thread blocked for this long; a socket ended it, or something else.</summary>
    public void Slept(TimeSpan slept, bool isSocketReady)
    {
        if (!isSocketReady || slept >= longestNap)
        {
            _quickWakes = 0;
        }
        else if (slept >= ShortestSleep && _quickWakes < QuickWakesBeforeNap)
        {
            _quickWakes++;
        }
    }

    /// <summary>How many runs the turn's intake brought.</summary>
    public void Took(int runs, TimeSpan now)
    {
        if (!_hasNapped)
        {
            return;
        }

        _hasNapped = false;
        if (runs >= FruitfulRuns)
        {
            _penalty = FirstPenalty;
            return;
        }

        _quickWakes = 0;
        _notBefore = now + _penalty;
        _penalty = TimeSpan.FromTicks(Math.Min(_penalty.Ticks * 2, LongestPenalty.Ticks));
    }
}
