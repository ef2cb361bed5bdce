namespace QuickSilver.Core.Loop;

// The share of time that one of the core thread's queues has before the next one gets its turn. Asked with the time,
// never asks for it.
internal struct Quantum(TimeSpan share)
{
    // A socket under load never runs dry; alarms and requests wait no longer than this for it.
    public static readonly TimeSpan InputShare = TimeSpan.FromMilliseconds(50);

    // Alarms that set each other, or thousands at one instant, must not keep packets waiting.
    public static readonly TimeSpan AlarmShare = TimeSpan.FromMilliseconds(5);

    // Publishers can post faster than the core thread sends; packets come in between.
    public static readonly TimeSpan RequestShare = TimeSpan.FromMilliseconds(5);

    // What the windows allow is sent in bursts no longer than this: tokens and acknowledgements are read in between.
    public static readonly TimeSpan OutputShare = TimeSpan.FromMilliseconds(5);

    private TimeSpan _end;

    public void Begin(TimeSpan now) => _end = now + share;

    public readonly bool IsOver(TimeSpan now) => now >= _end;
}
