using System.Globalization;

namespace QuickSilver.Processes.Tests.Campaigns;

// What part of the machine's processor time was used since it was last asked, from /proc/stat.
internal sealed class ProcessorShare
{
    private (long Busy, long All) _last = Read();

    public double Take()
    {
        var now = Read();
        double share = now.All == _last.All ? 0 : (double)(now.Busy - _last.Busy) / (now.All - _last.All);
        _last = now;
        return share;
    }

    // cpu user nice system idle iowait irq softirq steal
    private static (long Busy, long All) Read()
    {
        const int Idle = 3;
        const int Waiting = 4;
        long[] times = [.. File.ReadLines("/proc/stat").First().Split(' ', StringSplitOptions.RemoveEmptyEntries)
            .Skip(1).Take(8).Select(text => long.Parse(text, CultureInfo.InvariantCulture))];
        return (times.Sum() - times[Idle] - times[Waiting], times.Sum());
    }
}
