using QuickSilver.Core.Transport;

namespace QuickSilver.Core.Loop;

// Lets the core thread wait its turn for a processor while it is busy, and have one at once while it is not.
//
// Intuition: each datagram sent wakes a receiver, and where processors are fewer than busy threads it takes the sender's at
// once, for that one datagram, and throws its data out of the cache. A thread that waits its turn finds many datagrams.
//
// What goes wrong: beside threads that compute without end, waiting one's turn takes milliseconds. So a thread that has little
// to do is never made to wait; the two limits lie apart, so that it does not change back and forth.
internal sealed class BusyScheduling(Func<bool, bool> trySetBatch)
{
    public static readonly TimeSpan Window = TimeSpan.FromMilliseconds(10);

    // Shares of a window, as one part of so many.
    private const int BusyFrom = 8;
    private const int IdleBelow = 16;

    private TimeSpan _began;
    private TimeSpan _slept;
    private bool _isBatch;
    private bool _isRefused;

    /// <summary>Sets the calling thread, where the system knows the difference.</summary>
    public static BusyScheduling ForThisSystem() => new(OperatingSystem.IsLinux() ? LinuxCalls.TrySetBatch : static _ => false);

    public void Slept(TimeSpan slept) => _slept += slept;

    /// <summary>Called once a turn, on the core thread.</summary>
    public void Look(TimeSpan now)
    {
        var window = now - _began;
        if (window < Window)
        {
            return;
        }

        var busy = window - _slept;
        _began = now;
        _slept = TimeSpan.Zero;
        bool isBatch = busy * (_isBatch ? IdleBelow : BusyFrom) >= window;
        if (isBatch != _isBatch && !_isRefused)
        {
            _isRefused = !trySetBatch(isBatch);
            _isBatch = isBatch;
        }
    }
}
