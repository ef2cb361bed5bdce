namespace QuickSilver.GroupFlush;

// A view as one member got it, by the machine's monotonic clock.
internal sealed record ViewAt(long Number, int Members, long Ticks);
