using System.Diagnostics;

namespace QuickSilver.Tool.Perf.Senders;

// Holds a loop to a rate. It sleeps whole milliseconds and then catches up, so it costs little and keeps the mean.
internal sealed class Pace(double perSecond)
{
    private readonly double _ticksPerTurn = Stopwatch.Frequency / perSecond;
    private readonly long _startTicks = Stopwatch.GetTimestamp();

    /// <summary>Returns when turn <paramref name="turn"/> (from 0) is due.</summary>
    public void WaitFor(long turn)
    {
        long dueTicks = _startTicks + (long)(turn * _ticksPerTurn);
        while (Stopwatch.GetTimestamp() < dueTicks)
        {
            Thread.Sleep(1);
        }
    }

    /// <summary>The same where a thread is not to be held: many nodes of one process share few.</summary>
    public async ValueTask WaitForAsync(long turn, CancellationToken cancellationToken)
    {
        long dueTicks = _startTicks + (long)(turn * _ticksPerTurn);
        cancellationToken.ThrowIfCancellationRequested();
        while (Stopwatch.GetTimestamp() < dueTicks)
        {
            await Task.Delay(1, cancellationToken);
        }
    }
}
