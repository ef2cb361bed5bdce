namespace QuickSilver;

// States that only go forward, set from any thread.
internal static class ForwardState
{
    /// <summary>False when this state or a later one was reached before.</summary>
    public static bool TryAdvance(ref int state, int to)
    {
        int seen = Volatile.Read(ref state);
        while (seen < to)
        {
            int found = Interlocked.CompareExchange(ref state, to, seen);
            if (found == seen)
            {
                return true;
            }

            seen = found;
        }

        return false;
    }
}
