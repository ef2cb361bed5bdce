using System.Diagnostics;
using System.Globalization;

namespace QuickSilver.Campaign.Contenders;

// How long the whole machine's processors have been busy (user, system, interrupts), noted so often that any stretch can be
// asked for afterwards: when a process began to measure is known only once it has ended.
internal sealed class MachineCpu : IDisposable
{
    private const double JiffiesPerSecond = 100;
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(100);

    // Of a line "cpu user nice system idle iowait irq softirq …".
    private static readonly int[] BusyFields = [1, 2, 3, 6, 7];

    private readonly List<(long Ticks, double Seconds)> _notes = [];
    private readonly Timer _timer;

    public MachineCpu() => _timer = new Timer(_ => Note(), null, TimeSpan.Zero, Interval);

    public double SecondsBetween(long fromTicks, long toTicks)
    {
        Note();
        lock (_notes)
        {
            return At(toTicks) - At(fromTicks);
        }
    }

    public void Dispose() => _timer.Dispose();

    private void Note()
    {
        lock (_notes)
        {
            string[] fields = File.ReadLines("/proc/stat").First().Split(' ', StringSplitOptions.RemoveEmptyEntries);
            double seconds = BusyFields.Sum(field => long.Parse(fields[field], CultureInfo.InvariantCulture)) / JiffiesPerSecond;
            _notes.Add((Stopwatch.GetTimestamp(), seconds));
        }
    }

    private double At(long ticks)
    {
        int after = Math.Clamp(_notes.FindIndex(note => note.Ticks >= ticks), 1, _notes.Count - 1);
        var (from, to) = (_notes[after - 1], _notes[after]);
        double share = (double)(ticks - from.Ticks) / (to.Ticks - from.Ticks);
        return from.Seconds + (share * (to.Seconds - from.Seconds));
    }
}
