using System.Globalization;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Campaigns;

// The secret of a cluster is replaced while messages flow, as the page of security says: no node is removed, nothing is lost or late, and
// a node with only the old secret is refused then.
//   rotation [times=10] [rate=1000] [step-seconds=5]
//
// Each machine has a file of its own. All of them are changed one after the other in each of the three steps, and a node joins between two
// machines, with the file as it is there.
internal sealed class RotationCampaign : IDisposable
{
    private const int Service = 1;
    private const int Publisher = 2;
    private const int Joiner = 5;
    private const int PayloadBytes = 200;
    private const double MostPause = 100;
    private static readonly int[] ReaderHosts = [3, 4];

    private readonly CampaignLog _log;
    private readonly DirectoryInfo _files = Directory.CreateTempSubdirectory("qsm-rotation-");
    private readonly StreamNodes _run;
    private readonly NodeProcess _publisher;
    private readonly List<NodeProcess> _readers;
    private string _secret;

    public RotationCampaign(CampaignLog log, int rate)
    {
        (_log, _secret) = (log, NewSecret());
        foreach (int host in Enumerable.Range(1, Joiner))
        {
            Write(host, _secret);
        }

        _run = new StreamNodes(new QsmCluster(Joiner, secretFileOf: FileOf));
        _publisher = _run.Node(Publisher);
        _readers = [.. ReaderHosts.Select(host => _run.Subscriber(host, "rotation reliable handler"))];
        StreamNodes.Do(_publisher, $"open rotation reliable {_readers.Count}", "open rotation");
        _publisher.Feed(string.Create(CultureInfo.InvariantCulture, $"pace rotation 36000 {PayloadBytes} {rate}\n"));
    }

    public static int Run(CampaignArguments arguments) => CampaignLog.Run("rotation", log =>
    {
        using var campaign = new RotationCampaign(log, arguments.Number("rate", 1000));
        int times = arguments.Number("times", 10);
        for (int time = 1; time <= times; time++)
        {
            campaign.Rotate($"rotation {time}", TimeSpan.FromSeconds(arguments.Number("step-seconds", 5)));
        }

        campaign.End();
    });

    public void Rotate(string name, TimeSpan step)
    {
        string old = _secret;
        string next = NewSecret();
        Thread.Sleep(step);
        double before = _readers.Max(Pause);
        Step(step, [old, next]);
        Step(step, [next, old]);
        Step(step, [next]);
        _secret = next;
        // The service looks at its file when a process connects, which the nodes have to do again now.
        Thread.Sleep(step);
        double[] pauses = [.. _readers.Select(Pause)];
        string words = string.Join(", ", pauses.Select(static pause => pause.ToString("0", CultureInfo.InvariantCulture)));
        _log.HoldInTime(
            pauses.Max() <= Math.Max(MostPause, before),
            string.Create(CultureInfo.InvariantCulture, $"{name}: longest pause {before:0} ms before, then {words} ms"));
        int removals = _run.Cluster.Removals.Length;
        _log.Hold(removals == 0, $"{name}: {removals} removals");
        ExpectRefused(name, old);
    }

    /// <summary>Stops to publish, and looks whether everything has come.</summary>
    public void End()
    {
        _publisher.Feed("halt\n");
        string sent = StreamNodes.WaitFor(_publisher, "published rotation").Split(' ')[^1];
        foreach (var reader in _readers)
        {
            string has = StreamNodes.Ask(reader, $"expect rotation 1 {sent}", "has rotation");
            _log.Hold(has == $"has rotation {sent} 0", $"a reader has all {sent} messages: {has}");
        }

        _run.EndAndExpectNothingWrong();
    }

    public void Dispose()
    {
        _run.Dispose();
        _files.Delete(recursive: true);
    }

    private void Step(TimeSpan length, string[] secrets)
    {
        for (int host = Service; host <= Joiner; host++)
        {
            Write(host, secrets);
            if (host == Service)
            {
                // The others connect to a service that takes what they will show.
                Join();
            }
        }

        Join();
        Thread.Sleep(length);
    }

    // A node comes, reads what is published after that, and leaves.
    private void Join()
    {
        // A file is looked at once a second at most.
        Thread.Sleep(TimeSpan.FromSeconds(1.2));
        var node = _run.Transient(Joiner, "rotation reliable late");
        StreamNodes.Ask(node, "expect rotation 1 10", "has rotation");
        node.CloseInput();
        node.ExpectExit(0);
    }

    private void ExpectRefused(string name, string old)
    {
        Write(Joiner, old);
        var refused = _run.Cluster.Join(Joiner, "sub", "rotation");
        int code = refused.WaitForExit();
        _log.Hold(
            code != 0 && refused.Errors.Text().Contains("is not of this secret", StringComparison.Ordinal),
            $"{name}: the old secret is refused: {code}, {refused.Errors.Text().TrimEnd()}");
        Write(Joiner, _secret);
    }

    private static double Pause(NodeProcess node) => StreamNodes.LongestPause(node, "rotation");

    private static string NewSecret()
    {
        using var file = new SecretFile();
        return File.ReadAllText(file.Path);
    }

    private string FileOf(int host) => Path.Combine(_files.FullName, $"{host}.secret");

    private void Write(int host, params string[] secrets)
    {
        // Replaced as a whole, as a program that distributes secrets does.
        string file = FileOf(host);
        File.WriteAllText(file + ".new", string.Concat(secrets));
        if (!OperatingSystem.IsWindows())
        {
            File.SetUnixFileMode(file + ".new", UnixFileMode.UserRead | UnixFileMode.UserWrite);
        }

        File.Move(file + ".new", file, overwrite: true);
    }
}
