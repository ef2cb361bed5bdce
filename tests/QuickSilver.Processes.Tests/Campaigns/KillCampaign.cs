using System.Diagnostics;
using System.Globalization;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Campaigns;

// A killed node is removed in the time configured, and no other node is.
//   kill [times=50] [ipv6]
//
// A publisher sends to three readers all the time. One of them is killed, in turn by kill -9, after which its connection closes, and by
// the loss of its machine: the network loses all that it sends, and then it is killed, without a notice. Another one takes its place. The
// time is taken from the kill to when each of the others counts one member less. Everything is protected by a secret.
internal sealed class KillCampaign(CampaignLog log, bool isIpv6)
{
    private const int Victim = 4;
    private const int Members = 4;
    private const int Rate = 1000;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    // The defaults of `qsm gms`: ten heartbeats of one second each, and two seconds to come back after a connection closed; the check is
    // made four times a heartbeat, and then the others have to learn it.
    private static readonly TimeSpan OfHeartbeats = TimeSpan.FromSeconds(11);
    private static readonly TimeSpan OfConnection = TimeSpan.FromSeconds(3);

    public static int Run(CampaignArguments arguments) => CampaignLog.Run("kill", log =>
        new KillCampaign(log, arguments.Has("ipv6")).RunAll(arguments.Number("times", 50)));

    public void RunAll(int times)
    {
        using var secret = new SecretFile();
        using var run = new StreamNodes(new QsmCluster(Members, isIpv6: isIpv6, secretFileOf: _ => secret.Path));
        var publisher = run.Node(1);
        var others = new[] { run.Subscriber(2, "kill reliable handler"), run.Subscriber(3, "kill reliable handler") };
        StreamNodes.Do(publisher, "open kill reliable 2", "open kill");
        publisher.Feed($"pace kill {20 * times} 500 {Rate}\n");
        List<TimeSpan> closed = [];
        List<TimeSpan> lost = [];
        for (int time = 1; time <= times; time++)
        {
            bool isMachine = time % 2 == 0;
            var took = Kill(run, [publisher, .. others], isMachine);
            (isMachine ? lost : closed).Add(took);
            log.Say(string.Create(
                CultureInfo.InvariantCulture, $"{time}: {(isMachine ? "machine" : "process")} removed after {took.TotalSeconds:0.00} s"));
        }

        Summarize("processes", closed, OfConnection);
        Summarize("machines", lost, OfHeartbeats);
        int removals = run.Cluster.Removals.Length;
        log.Hold(removals == times, $"{removals} removals in the log of the service for {times} kills");
        publisher.Feed("halt\n");
        string sent = StreamNodes.WaitFor(publisher, "published kill").Split(' ')[^1];
        foreach (var node in others)
        {
            string got = StreamNodes.Ask(node, $"expect kill 1 {sent}", "has kill");
            log.Hold(got == $"has kill {sent} 0", $"a reader has all {sent} messages");
        }

        run.EndAndExpectNothingWrong();
    }

    private static TimeSpan Kill(StreamNodes run, NodeProcess[] others, bool isMachine)
    {
        var victim = run.Transient(Victim, "kill reliable handler");
        Await(others, Members);
        Thread.Sleep(TimeSpan.FromSeconds(1));
        if (isMachine)
        {
            run.Cluster.Switch.Partition(Victim);
        }

        long killed = Stopwatch.GetTimestamp();
        victim.Send(ProcessSignal.Kill);
        Await(others, Members - 1);
        var took = Stopwatch.GetElapsedTime(killed);
        run.Cluster.Switch.Heal();
        return took;
    }

    private static void Await(NodeProcess[] nodes, int members)
    {
        long start = Stopwatch.GetTimestamp();
        foreach (var node in nodes)
        {
            while (StreamNodes.Ask(node, "members", "members") != $"members {members}")
            {
                Assert.True(Stopwatch.GetElapsedTime(start) < Patience, $"{members} members: {node.Report()}");
                Thread.Sleep(50);
            }
        }
    }

    private void Summarize(string what, List<TimeSpan> times, TimeSpan limit)
    {
        if (times.Count == 0)
        {
            return;
        }

        double[] seconds = [.. times.Select(time => time.TotalSeconds).Order()];
        int within = times.Count(time => time <= limit);
        log.HoldInTime(
            within == times.Count,
            string.Create(
                CultureInfo.InvariantCulture,
                $"{what}: {within} of {times.Count} removed within {limit.TotalSeconds} s; least {seconds[0]:0.00}, "
                + $"median {seconds[seconds.Length / 2]:0.00}, most {seconds[^1]:0.00} s"));
    }
}
