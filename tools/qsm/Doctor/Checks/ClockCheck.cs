using System.Globalization;

namespace QuickSilver.Tool.Doctor.Checks;

// IsSynchronized: null if the system does not report it. Error: the system's estimate of the error of its clock.
internal sealed record ClockFacts(DateTimeOffset Now, bool? IsSynchronized, TimeSpan Error);

// Whether the clock is sane. Nothing is decided by it but whether a certificate holds: logs, traces and publish times show it.
internal static class ClockCheck
{
    public const string Name = "clock";

    private static readonly DateTimeOffset Earliest = new(2025, 1, 1, 0, 0, 0, TimeSpan.Zero);
    private static readonly TimeSpan MostError = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan MostOffset = TimeSpan.FromSeconds(1);
    private static readonly Remedy Synchronize = new("timedatectl set-ntp true");

    public static Finding Of(ClockFacts facts)
    {
        if (facts.Now < Earliest)
        {
            return new Finding(
                Name, FindingStatus.Problem, $"The clock shows {facts.Now.UtcDateTime:yyyy-MM-dd}, which is in the past.", Synchronize);
        }

        string error = string.Create(CultureInfo.InvariantCulture, $"{facts.Error.TotalMilliseconds:0} ms");
        return facts.IsSynchronized switch
        {
            null => Finding.NotChecked(Name, "The system does not report whether its clock is synchronized."),
            false => new Finding(
                Name,
                FindingStatus.Warning,
                "The clock is not synchronized. Messages arrive all the same, but publish times, logs and traces of different hosts do not "
                + "agree.",
                Synchronize),
            true when facts.Error > MostError => new Finding(
                Name, FindingStatus.Warning, $"The clock is synchronized, but may be off by {error}.", new Remedy("chronyc makestep")),
            _ => Finding.Ok(Name, $"The clock is synchronized, to {error} at least."),
        };
    }

    /// <summary>The clocks of the hosts of etcd, which have the servers mostly, beside this host's.</summary>
    public static IEnumerable<Finding> OfMembers(EtcdFacts? facts) =>
        from member in facts?.Answers ?? []
        where member.ClockOffset.Duration() >= MostOffset
        let side = member.ClockOffset > TimeSpan.Zero ? "ahead of" : "behind"
        select new Finding(
            Name,
            FindingStatus.Warning,
            $"The clock of {member.Member.IdnHost} is at least {member.ClockOffset.Duration().TotalSeconds:0} s {side} this host's. One of "
            + "them is wrong, and a host with the wrong one may refuse valid certificates.",
            Synchronize with { Where = member.Member.IdnHost });

    /// <summary>By how much a clock is ahead at least (negative: behind) that wrote a second between question and answer.</summary>
    public static TimeSpan OffsetOf(DateTimeOffset? second, DateTimeOffset asked, DateTimeOffset answered)
    {
        if (second is not { } begun)
        {
            return TimeSpan.Zero;
        }

        var least = begun - answered;
        var most = begun - asked + TimeSpan.FromSeconds(1);
        return least > TimeSpan.Zero ? least : most < TimeSpan.Zero ? most : TimeSpan.Zero;
    }
}
