namespace QuickSilver.States;

// The numbers of the changes of a state on one node, and how high a foreign one may be. From any thread.
//
// An honest number is at most the number of changes that were ever made. So a number is accepted up to Limit: what nodes can have counted
// since before the state was opened anywhere (First, 35 years at a million changes a second), and a million for each second since. Nodes
// get the age of the state from the others when they open it, so that all have nearly the same limit, whichever of them is new.
//
// A member that lies can raise the clocks of all nodes to the limit, and then by no more than a million a second, while the nodes count
// much slower. But the limits of two nodes differ by seconds, and a number may lie between them: one node has it as its clock, and the
// other one must still take what that node changes then. So a node takes numbers up to Limit + Margin, and its clock is not raised by
// those above the limit. A key that has one of those is changed above it, by numbers that are this node's own too (_beyond).
internal sealed class StateClock(TimeProvider time)
{
    public const long First = 1L << 50;
    public const long PerSecond = 1L << 20;
    /// <summary>How far the limits of nodes may differ: 18 hours.</summary>
    public const long Margin = PerSecond << 16;

    private readonly long _startedAt = time.GetTimestamp();
    // Seconds, when this node opened the state. Never lowered.
    private long _ageAtStart;
    private long _clock;
    private long _beyond;

    /// <summary>How old the state is, as far as this node knows, in seconds.</summary>
    public int AgeSeconds => (int)Math.Min(
        int.MaxValue, Volatile.Read(ref _ageAtStart) + (long)time.GetElapsedTime(_startedAt).TotalSeconds);

    /// <summary>The clock is not raised above it by the number of another node.</summary>
    public long Limit => First + (PerSecond * AgeSeconds);

    /// <summary>Core thread: takes the age that other nodes give. It never makes the state younger.</summary>
    public void OnAge(int seconds)
    {
        if (seconds > AgeSeconds)
        {
            Volatile.Write(ref _ageAtStart, _ageAtStart + (seconds - AgeSeconds));
        }
    }

    /// <summary>Whether a number of another node can have been counted.</summary>
    public bool IsPlausible(long counter) => counter <= Volatile.Read(ref _clock) || counter <= Limit + Margin;

    /// <summary>The number of a change of this node: above all that have raised its clock, and above that of the key.</summary>
    public long Next(long ofKey)
    {
        long next = Interlocked.Increment(ref _clock);
        if (next > ofKey)
        {
            return next;
        }

        while (true)
        {
            long last = Volatile.Read(ref _beyond);
            next = Math.Max(last, ofKey) + 1;
            if (Interlocked.CompareExchange(ref _beyond, next, last) == last)
            {
                return next;
            }
        }
    }

    public void See(long counter)
    {
        long clock = Volatile.Read(ref _clock);
        while (clock < counter && counter <= Limit)
        {
            long before = Interlocked.CompareExchange(ref _clock, counter, clock);
            if (before == clock)
            {
                return;
            }

            clock = before;
        }
    }
}
