using System.Diagnostics;
using System.Globalization;
using System.Net;
using QuickSilver.Processes.Tests.Campaigns.Servers;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Campaigns.Soak;

// I17 for real: nodes come and go, and no process grows. A service with etcd, a secret, members that stay, and processes whose nodes live
// for a second: each opens a state, sends a request, publishes to a topic of a prefix, and leaves.
//   soak [minutes=60] [warm-up=10] [stayers=3] [lives=120] [processes=2] [logs=FOLDER]        lives: a minute, of all processes
//
// Each minute no life begins for a moment, and each process says what it holds. The heap is taken after a full collection; in the service,
// by a startup hook. Of etcd the anonymous pages count.
internal sealed class SoakCampaign : IDisposable
{
    private const int ServicePort = 7400;
    private const int Service = 1;
    private const int Etcd = 2;
    private const int FirstStayer = 3;
    // As the lives of ChurnNode publish.
    private const int LifeMessages = 5;
    // In MB, descriptors and threads a minute.
    private const double MostGrowth = 0.1;
    // Threads of the pool come and go. More lives than this end between two rounds, and each has several descriptors and threads.
    private const int ShortSlack = 8;

    private readonly CampaignLog _log;
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("soak");
    private readonly SecretFile _secret = new();
    private readonly NetworkNamespaces _network;
    private readonly ImpairedSwitch? _switch;
    private readonly EtcdMember? _etcd;
    private readonly Server? _service;
    private readonly List<SoakProcess> _stayers = [];
    private readonly List<SoakProcess> _lives = [];
    private readonly List<HeldSeries> _series = [];

    /// <param name="log">Where its steps and bars go.</param>
    /// <param name="stayers">Members that stay.</param>
    /// <param name="processes">Processes of lives.</param>
    /// <param name="perMinute">How many lives each of these begins a minute.</param>
    public SoakCampaign(CampaignLog log, int stayers, int processes, int perMinute)
    {
        _log = log;
        _network = NetworkNamespaces.Create(FirstStayer - 1 + stayers + processes);
        try
        {
            _switch = new ImpairedSwitch(_network, seed: 1);
            _switch.SetAll(Impairment.None);
            string security = _secret.Path;
            _etcd = new EtcdMember(_network, Etcd, [Etcd], _folder.FullName);
            ServersRig.Await("etcd to elect a leader", () => _etcd.IsLeader() is true, 300);
            string listen = new IPEndPoint(_network.Address(Service), ServicePort).ToString();
            _service = new Server(
                _network,
                Service,
                security,
                [$"DOTNET_STARTUP_HOOKS={Programs.ChurnNode}.dll", $"QS_FOOTPRINT={Report}"],
                ["--listen", listen, "--etcd", $"{_etcd.Address}"]);
            ServersRig.Await("the service to listen", () => _service.IsListening);
            // Each waits for the streams of all.
            var starts = Enumerable.Range(0, stayers)
                .Select(index => Task.Run(() => Start(FirstStayer + index, "soak", listen, security, stayers, index)))
                .ToArray();
            Task.WaitAll(starts);
            _stayers.AddRange(starts.Select(static start => start.Result));
            _lives.AddRange(Enumerable.Range(0, processes).Select(
                index => Start(FirstStayer + stayers + index, "lives", listen, security, stayers, index, perMinute)));
            _series.AddRange(_stayers.Select(static process => new HeldSeries($"stayer {process.Node}")));
            _series.AddRange(_lives.Select(static process => new HeldSeries($"lives {process.Node}")));
            _series.Add(new HeldSeries("service"));
            _series.Add(new HeldSeries("etcd"));
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    private string Report => Path.Combine(_folder.FullName, "service");

    public static int Run(CampaignArguments arguments)
    {
        LoggedProcess.Folder = arguments.Text("logs") is { } logs ? Directory.CreateDirectory(logs).FullName : null;
        return CampaignLog.Run("soak", log =>
        {
            int processes = arguments.Number("processes", 2);
            using var campaign = new SoakCampaign(
                log, arguments.Number("stayers", 3), processes, arguments.Number("lives", 120) / processes);
            campaign.Run(arguments.Number("minutes", 60), arguments.Number("warm-up", 10));
        });
    }

    public void Dispose()
    {
        foreach (IDisposable process in (IEnumerable<IDisposable>)[.. _lives, .. _stayers])
        {
            process.Dispose();
        }

        _service?.Dispose();
        _etcd?.Dispose();
        _switch?.Dispose();
        _network.Dispose();
        _secret.Dispose();
        _folder.Delete(recursive: true);
    }

    /// <summary>
    /// For a test: lives end right and their messages are handled, and processes hold as many descriptors and threads after the last
    /// round as after another one. Bytes say nothing after so short a time.
    /// </summary>
    /// <param name="rounds">How often lives pause.</param>
    /// <param name="round">For how long lives begin in between.</param>
    public void RunShort(int rounds, TimeSpan round)
    {
        for (int i = 1; i <= rounds; i++)
        {
            Thread.Sleep(round);
            var (whole, failed) = Pause();
            Measure(i);
            _log.Say($"round {i}: {whole} lives, {failed} failed; {string.Join("; ", _series)}");
            if (i < rounds)
            {
                _lives.ForEach(static process => process.Tell("resume"));
            }
        }

        JudgeLives();
        foreach (var series in _series)
        {
            _log.Hold(series.IsLevel(static sample => sample.Descriptors, ShortSlack), $"the descriptors of {series} are level");
            _log.Hold(series.IsLevel(static sample => sample.Threads, ShortSlack), $"the threads of {series} are level");
        }
    }

    private void Run(int minutes, int warmUp)
    {
        long begun = Stopwatch.GetTimestamp();
        for (int minute = 1; minute <= minutes; minute++)
        {
            var due = TimeSpan.FromMinutes(minute) - Stopwatch.GetElapsedTime(begun);
            Thread.Sleep(due > TimeSpan.Zero ? due : TimeSpan.Zero);
            var (whole, failed) = Pause();
            Measure(Stopwatch.GetElapsedTime(begun).TotalMinutes);
            _log.Say($"minute {minute}: {whole} lives, {failed} failed; {string.Join("; ", _series)}");
            if (minute < minutes)
            {
                _lives.ForEach(static process => process.Tell("resume"));
            }
        }

        Judge(warmUp);
    }

    private (long Whole, long Failed) Pause()
    {
        long whole = 0;
        long failed = 0;
        foreach (var process in _lives)
        {
            string[] words = process.Ask("pause", "paused");
            whole += SoakProcess.Number(words[0]);
            failed += SoakProcess.Number(words[1]);
        }

        return (whole, failed);
    }

    private void Measure(double minute)
    {
        int at = 0;
        foreach (var process in _stayers.Concat(_lives))
        {
            _series[at++].Add(minute, process.Measure());
        }

        _series[at++].Add(minute, HeldSample.OfReport(_service!, Report));
        _series[at].Add(minute, HeldSample.OfProcess(_etcd!.Id));
    }

    private void Judge(int warmUp)
    {
        JudgeLives();
        foreach (var series in _series)
        {
            Hold(series, "MB", series.BytesSlope(warmUp), series.Name == "etcd");
            Hold(series, "descriptors", series.DescriptorsSlope(warmUp), isOutside: false);
            Hold(series, "threads", series.ThreadsSlope(warmUp), isOutside: false);
        }
    }

    private void JudgeLives()
    {
        var (whole, failed) = Pause();
        _log.Hold(whole > 0, $"{whole} lives ended");
        _log.Hold(failed == 0, $"{whole} lives, {failed} of them failed");
        foreach (var stayer in _stayers)
        {
            // The last acknowledgement of a life came before its handler at a member, perhaps.
            long expected = whole * LifeMessages;
            string[] words = stayer.AskUntil("count", "count", words => SoakProcess.Number(words[0]) >= expected);
            _log.Hold(SoakProcess.Number(words[0]) >= expected, $"stayer {stayer.Node} handled {words[0]} of {expected} messages of lives");
            _log.Hold(words[1] == "True", $"stayer {stayer.Node} has the whole state");
            _log.Hold(words[3] == "none", $"stayer {stayer.Node} got each steady stream once and in order: {string.Join(' ', words[3..])}");
        }
    }

    // What etcd keeps is its own affair; its keys are not.
    private void Hold(HeldSeries series, string what, double slope, bool isOutside)
    {
        string line = string.Create(CultureInfo.InvariantCulture, $"{series.Name}: {slope:+0.000;-0.000} {what} a minute");
        if (isOutside)
        {
            _log.Say(line);
        }
        else
        {
            _log.Hold(slope < MostGrowth, line);
        }
    }

    private SoakProcess Start(int node, string role, string service, string security, params int[] numbers) => new(
        _network,
        node,
        [
            role, service, _network.Address(node).ToString(), security,
            .. numbers.Select(static number => number.ToString(CultureInfo.InvariantCulture)),
        ]);
}
