using System.Diagnostics;
using System.Globalization;
using System.Net;

namespace QuickSilver.GroupFlush;

// The members that stay, and the one that comes and goes. This process hosts the service and is no member.
internal sealed class Rounds : IAsyncDisposable
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(300);
    private static readonly TimeSpan FullLoad = TimeSpan.FromSeconds(5);

    private readonly NodeLog _log = new();
    private readonly List<MemberProcess> _stayers = [];
    private readonly Dictionary<string, List<Steps>> _took = new()
    {
        ["firstJoin"] = [],
        ["firstLeave"] = [],
        ["join"] = [],
        ["leave"] = [],
        ["failure"] = [],
    };

    private readonly int _members;
    private readonly int _bytes;
    private QuickSilverNode _host = null!;
    private string _service = "";
    private double _most;
    private double _rate;

    private Rounds(int members, int bytes)
    {
        (_members, _bytes) = (members, bytes);
    }

    public static async Task<Rounds> BeginAsync(int members, int bytes, double load)
    {
        var rounds = new Rounds(members, bytes);
        await rounds.StartAsync(load);
        return rounds;
    }

    public async Task RunAsync(int count)
    {
        for (int round = 0; round < count; round++)
        {
            using var one = await MemberProcess.StartAsync(_service, _bytes);
            one.Do(Rate(_rate));
            // In the first ones, the process compiles what it needs for them.
            await JoinAsync(one, "firstJoin");
            await LeaveAsync(one, "firstLeave");
            await JoinAsync(one, "join");
            await LeaveAsync(one, "leave");
            await JoinAsync(one, "join");
            int removals = _log.Removals;
            one.Kill();
            while (_log.Removals == removals)
            {
                await Task.Delay(5);
            }

            await NoteAsync("failure", _log.LastRemoval, _stayers, _members - 1);
            await Task.Delay(Pause);
        }
    }

    public string Json() => string.Create(
        CultureInfo.InvariantCulture,
        $"{{\"members\":{_members},\"bytes\":{_bytes},\"mostPerSecond\":{_most:F0},\"sentPerSecond\":{_rate * _members:F0},"
        + $"{string.Join(",", _took.Select(static one => $"\"{one.Key}\":{Steps.Json(one.Value)}"))}}}");

    public async ValueTask DisposeAsync()
    {
        _stayers.ForEach(static one => one.Dispose());
        await _host.DisposeAsync();
        _log.Dispose();
    }

    private async Task StartAsync(double load)
    {
        var options = new QuickSilverOptions { Interface = IPAddress.Loopback, Security = SecurityOptions.None };
        options.Membership.Mode = MembershipMode.Host;
        _host = await QuickSilverNode.StartAsync(options, _log);
        _service = _log.Service;
        while (_stayers.Count < _members - 1)
        {
            var one = await MemberProcess.StartAsync(_service, _bytes);
            one.Do("join");
            await one.WaitAsync("joined");
            _stayers.Add(one);
        }

        _stayers.ForEach(static one => one.Do(Rate(-1)));
        await Task.Delay(Pause);
        var (before, from) = await CountAsync();
        await Task.Delay(FullLoad);
        var (after, to) = await CountAsync();
        _most = (after - before) / Stopwatch.GetElapsedTime(from, to).TotalSeconds;
        _rate = load * _most / _members;
        _stayers.ForEach(one => one.Do(Rate(_rate)));
        await Task.Delay(FullLoad);
    }

    private async Task LeaveAsync(MemberProcess one, string what)
    {
        one.Do("leave");
        await NoteAsync(what, Ticks(await one.WaitAsync("leaving")), _stayers, _members - 1);
        await one.WaitAsync("left");
        await Task.Delay(Pause);
    }

    private async Task JoinAsync(MemberProcess one, string what)
    {
        one.Do("join");
        long asked = Ticks(await one.WaitAsync("joining"));
        await NoteAsync(what, asked, [.. _stayers, one], _members);
        await one.WaitAsync("joined");
        await Task.Delay(Pause);
    }

    private async Task NoteAsync(string what, long asked, List<MemberProcess> of, int members)
    {
        var first = await of[^1].WaitForViewAsync(view => view.Ticks > asked && view.Members == members);
        var views = new List<ViewAt>();
        foreach (var member in of)
        {
            views.Add(await member.WaitForViewAsync(view => view.Number == first.Number));
        }

        _took[what].Add(new Steps(
            asked, _log.MadeAt(first.Number), views.Min(static view => view.Ticks), views.Max(static view => view.Ticks)));
    }

    private async Task<(long Count, long Ticks)> CountAsync()
    {
        _stayers[0].Do("count");
        string[] words = await _stayers[0].WaitAsync("got");
        return (long.Parse(words[1], CultureInfo.InvariantCulture), Ticks(words));
    }

    private static string Rate(double rate) => string.Create(CultureInfo.InvariantCulture, $"rate {rate:F1}");

    private static long Ticks(string[] words) => long.Parse(words[^1], CultureInfo.InvariantCulture);
}
