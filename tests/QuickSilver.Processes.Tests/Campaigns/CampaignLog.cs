using System.Diagnostics;
using System.Globalization;

namespace QuickSilver.Processes.Tests.Campaigns;

// What a campaign prints: a line per step with the seconds since its start, and whether each bar held. Bars of time hold on a quiet machine
// only: a log that is not timed prints them, and misses none.
internal sealed class CampaignLog(string name, bool isTimed = true)
{
    private readonly Lock _turn = new();
    private readonly long _start = Stopwatch.GetTimestamp();
    private readonly List<string> _missed = [];
    private int _held;

    public IReadOnlyList<string> Missed => _missed;

    /// <summary>Runs a campaign to its end; returns the exit code of the program.</summary>
    public static int Run(string name, Action<CampaignLog> campaign)
    {
        var log = new CampaignLog(name);
        try
        {
            campaign(log);
        }
        catch (Exception exception)
        {
            log.Hold(false, $"it ran to its end: {exception}");
        }

        return log.End();
    }

    public void Say(string text)
    {
        string seconds = Stopwatch.GetElapsedTime(_start).TotalSeconds.ToString("0.0", CultureInfo.InvariantCulture);
        lock (_turn)
        {
            Console.WriteLine($"{seconds,8} {text}");
        }
    }

    public void Hold(bool isHeld, string what)
    {
        _held += isHeld ? 1 : 0;
        if (!isHeld)
        {
            _missed.Add(what);
        }

        Say((isHeld ? "held: " : "MISSED: ") + what);
    }

    /// <summary>A bar of time.</summary>
    public void HoldInTime(bool isHeld, string what)
    {
        if (isTimed || isHeld)
        {
            Hold(isHeld, what);
        }
        else
        {
            Say("not in time: " + what);
        }
    }

    private int End()
    {
        Say($"{name}: {_held} held, {_missed.Count} missed");
        _missed.ForEach(what => Say("  missed: " + what));
        return _missed.Count == 0 ? 0 : 1;
    }
}
