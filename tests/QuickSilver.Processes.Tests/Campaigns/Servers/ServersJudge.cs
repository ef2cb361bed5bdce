using System.Diagnostics;
using System.Globalization;
using System.Text.Json;

namespace QuickSilver.Processes.Tests.Campaigns.Servers;

// Measures each fault, says it in a line, and keeps what did not hold.
internal sealed class ServersJudge(ServersRig rig, TextWriter output)
{
    // Of a pause of data, and of the time without a leader.
    private const double MostPause = 100;
    private static readonly TimeSpan MostLeaderless = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan LeaderLimit = TimeSpan.FromSeconds(30);

    private readonly long _begun = Stopwatch.GetTimestamp();
    private readonly List<string> _misses = [];
    private readonly List<double> _led = [];
    private readonly List<double> _served = [];
    private readonly List<double> _configured = [];
    private readonly List<double> _pauses = [];
    private int _changesOfLeader;

    public void Say(string line)
    {
        output.WriteLine(line);
        output.Flush();
    }

    public void Miss(string what)
    {
        _misses.Add(what);
        Say($"  MISSED: {what}");
    }

    /// <summary>Does what no server has to take over for.</summary>
    public void Watch(string what, Action fault)
    {
        long from = Stopwatch.GetTimestamp();
        var before = rig.Leader();
        fault();
        rig.AwaitSettled();
        bool isChanged = rig.Leader() != before;
        _changesOfLeader += isChanged ? 1 : 0;
        Conclude(what, from, isChanged ? $"; the leader changed from {before?.Node} to {rig.Leader()?.Node}" : "");
    }

    /// <summary>Takes the leader away, which returns what is to be done when another one leads.</summary>
    public void Watch(string what, Server old, Func<Action> fault)
    {
        long from = Stopwatch.GetTimestamp();
        var rest = fault();
        Server? next = null;
        while (next is not { ConfiguredAt: not 0 } && Stopwatch.GetElapsedTime(from) < LeaderLimit)
        {
            next = rig.Servers.Where(server => server != old && server.LedAt > from).MaxBy(static server => server.LedAt);
            Thread.Sleep(2);
        }

        if (next is not { ConfiguredAt: not 0 })
        {
            throw new TimeoutException($"{what}: no other server led and sent a configuration");
        }

        double led = Seconds(from, next.LedAt);
        double served = Seconds(from, next.ServedAt);
        double configured = Seconds(from, next.ConfiguredAt);
        _led.Add(led);
        _served.Add(served);
        _configured.Add(configured);
        rest();
        rig.AwaitSettled();
        Conclude(
            what,
            from,
            Text($"; server {next.Node} led after {led:F2} s, served after {served:F2} s, configured after {configured:F2} s"));
        if (rig.Plan.IsTimed && served > MostLeaderless.TotalSeconds)
        {
            Miss(Text($"{what}: a new leader served after {served:F2} s"));
        }
    }

    /// <summary>What each member that stayed received of each other.</summary>
    public void JudgeMembers()
    {
        long received = 0;
        for (int i = 0; i < rig.Stayers.Length; i++)
        {
            var member = rig.Stayers[i];
            var report = member.Report!.Value;
            if (!report.GetProperty("Stable").GetBoolean())
            {
                Miss($"node {member.Node} had messages that did not become stable");
            }

            foreach (var stream in report.GetProperty("Steady").EnumerateArray())
            {
                received += stream.GetProperty("Received").GetInt64();
                JudgeStream(member, stream);
            }

            foreach (var fault in report.GetProperty("Faults").EnumerateArray())
            {
                Miss($"node {member.Node}, {fault.GetString()}");
            }

            var roaming = report.GetProperty("Roaming");
            if (roaming.GetProperty("Fault").GetString() is { } order)
            {
                Miss($"node {member.Node}, of the nodes that join and leave: {order}");
            }

            if (member.Removal is { } removal)
            {
                Miss($"node {member.Node} stayed and was removed: {removal}");
            }

            Say($"node {member.Node}: changed {report.GetProperty("Changes")} topics; of the nodes that join and leave "
                + $"{roaming.GetProperty("Lives")} lives, {roaming.GetProperty("Received")} messages, "
                + $"{roaming.GetProperty("Missing")} missing; {report.GetProperty("Repairs")} repairs, "
                + $"{report.GetProperty("KernelDrops")} dropped by the kernel");
        }

        foreach (var member in rig.Roamers)
        {
            var report = member.Report!.Value;
            var faults = report.GetProperty("Faults");
            Say($"node {member.Node}: {report.GetProperty("Lives").GetInt32()} lives, "
                + $"{report.GetProperty("Failures").GetInt32()} failed, {faults.GetArrayLength()} with faults");
            foreach (var fault in faults.EnumerateArray())
            {
                Miss($"node {member.Node}, {fault.GetString()}");
            }
        }

        Say(Text($"{received:N0} messages between members that stay"));
    }

    /// <summary>No number in two places, none of a server below one that it gave before, and no member that goes back.</summary>
    public void JudgeNumbers()
    {
        var all = rig.Lives.SelectMany(static life => life.Configurations.Select(one => (one.Number, one.At, life.Node)))
            .OrderBy(static one => one.At).ToList();
        foreach (var twice in all.GroupBy(static one => one.Number).Where(static group => group.Count() > 1))
        {
            Miss($"configuration {twice.Key} was given by servers {string.Join(", ", twice.Select(static one => one.Node))}");
        }

        // The logs of two servers are read by two threads: neighbours in time may be exchanged, terms may not.
        foreach (var life in rig.Lives)
        {
            var numbers = life.Configurations.Select(static one => one.Number).ToList();
            if (!numbers.SequenceEqual(numbers.Order()))
            {
                Miss($"configurations of server {life.Node} went back");
            }
        }

        int epochs = all.Select(static one => one.Number >> 32).Distinct().Count();
        Say($"{all.Count:N0} configurations in {epochs} epochs, {rig.Lives.Count} lives of servers");
        foreach (var member in rig.Stayers)
        {
            var numbers = member.Configurations;
            Say($"node {member.Node} was seen in {numbers.Count:N0} configurations");
            if (numbers.Count == 0 || !numbers.SequenceEqual(numbers.Order()))
            {
                Miss($"node {member.Node} went back, or was in no configuration");
            }
        }
    }

    /// <summary>Returns whether all held.</summary>
    public bool WriteSummary()
    {
        Say("");
        Say(Text($"{Stopwatch.GetElapsedTime(_begun).TotalSeconds:0} s, load {Load()}"));
        Say($"a new server led: {Spread(_led)} s; served: {Spread(_served)} s; sent its first configuration: {Spread(_configured)} s");
        Say($"longest pause of data in each fault: {Spread(_pauses)} ms; changes of the leader without need: {_changesOfLeader}");
        _misses.ForEach(miss => Say($"MISSED: {miss}"));
        Say(_misses.Count == 0 ? "all held" : $"{_misses.Count} did not hold");
        return _misses.Count == 0;
    }

    public void WriteTails()
    {
        foreach (var life in rig.Lives.TakeLast(5))
        {
            Say($"--- server {life.Node}\n{life.Tail}");
        }

        foreach (var member in (IEnumerable<Member>)[.. rig.Stayers, .. rig.Roamers])
        {
            Say($"--- node {member.Node}\n{member.Tail}");
        }
    }

    private static double Seconds(long from, long to) =>
        to == 0 ? double.PositiveInfinity : Stopwatch.GetElapsedTime(from, to).TotalSeconds;

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);

    private static string Load() => File.Exists("/proc/loadavg") ? File.ReadAllText("/proc/loadavg").Split(' ')[0] : "?";

    private static string Spread(List<double> values)
    {
        if (values.Count == 0)
        {
            return "-";
        }

        var ordered = values.Order().ToList();
        return Text($"{ordered[0]:F2} to {ordered[^1]:F2}, half below {ordered[ordered.Count / 2]:F2}");
    }

    private static Silence Longest(IEnumerable<Silence> silences) => silences.DefaultIfEmpty().MaxBy(static one => one.Milliseconds);

    private void JudgeStream(Member member, JsonElement stream)
    {
        int stayer = stream.GetProperty("Stayer").GetInt32();
        long sent = rig.Stayers[stayer].Sent!.Value;
        long received = stream.GetProperty("Received").GetInt64();
        long last = stream.GetProperty("Last").GetInt64();
        string? fault = stream.GetProperty("Fault").GetString();
        if (fault is not null || received != sent || last != sent)
        {
            Miss($"node {member.Node} received {received} of {sent} messages of stream {stayer}, the last {last}: {fault ?? "no gap"}");
        }
    }

    // A pause is the machine's if the control stream has it too, for half as long at least, or if one of the nodes stood still for so long.
    private void Conclude(string what, long from, string more)
    {
        // What receivers say of their pauses comes a moment later.
        Thread.Sleep(100);
        long to = Stopwatch.GetTimestamp();
        var control = rig.Control.Silences.Where(one => one.Touches(from, to)).ToList();
        var standstills = rig.Stayers.SelectMany(static member => member.Standstills).Where(one => one.Touches(from, to)).ToList();
        var data = rig.Stayers.SelectMany(static member => member.Silences)
            .Where(one => one.Stayer == 0 && one.Touches(from, to)).ToList();
        var longest = Longest(data);
        _pauses.Add(longest.Milliseconds);
        Say(Text($"{Stopwatch.GetElapsedTime(_begun).TotalSeconds,5:F0} s  {what}{more}; longest pause {longest.Milliseconds:F0} ms ")
            + Text($"(control {Longest(control).Milliseconds:F0} ms)"));
        foreach (var pause in data.Where(static one => one.Milliseconds > MostPause))
        {
            var cause = control.Concat(standstills)
                .FirstOrDefault(one => one.Touches(pause.Begin, pause.End) && one.Milliseconds * 2 >= pause.Milliseconds);
            double after = Seconds(from, pause.Begin);
            string told = Text($"a pause of {pause.Milliseconds:F0} ms at {pause.Receiver}, {after:F2} s after: {what}");
            if (rig.Plan.IsTimed && cause.Receiver is null)
            {
                Miss(told);
            }
            else
            {
                Say($"  {told}{(cause.Receiver is null ? "" : $" ({cause.Receiver})")}");
            }
        }

        foreach (var member in rig.Stayers)
        {
            foreach (string stall in member.TakeStalls())
            {
                Say($"  node {member.Node}: {stall}");
            }
        }
    }
}
