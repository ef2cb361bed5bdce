using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Ordering.Pinned;

// All members of a view hold what one of them is notified of as stable, and those that are left of the view deliver it.
public sealed class StableReportTests
{
    private const ulong Topic = 1;

    private readonly List<Report> _reports = [];

    [Fact]
    public void All_that_was_sent_is_reported_as_stable_at_each_member_after_it_was_delivered()
    {
        var cluster = Running(1, members: 4, new LinkModel { Loss = 0.1 });
        for (int step = 0; step < 10; step++)
        {
            foreach (var host in cluster.Hosts)
            {
                host.PublishAll(Topic, 30, 400);
            }

            cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));
        }

        Assert.True(cluster.RunUntil(() => cluster.Hosts.All(
            host => cluster.Hosts.All(sender => ReportedTo(host).GetValueOrDefault(sender.Key) == 300))));
        // Many messages are reported together, and not only at the end.
        Assert.InRange(_reports.Count, 2 * 16, 16 * 100);
    }

    [Fact]
    public void Nothing_is_stable_that_a_member_lacks()
    {
        var cluster = Running(2, members: 4);
        cluster[0].PublishAll(Topic, 10, 100);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.All(host => ReportedTo(host).GetValueOrDefault(cluster[0].Key) == 10)));

        cluster.Simulation.Network.Filter = (link, _) => link.From == cluster[0].Node && link.To == cluster[3].Node;
        cluster[3].Node.Pause(TimeSpan.FromSeconds(2));
        cluster[0].PublishAll(Topic, 10, 100);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.All(cluster.Hosts.Take(3), host => Assert.Equal(20, host.Log.Count));
        Assert.All(_reports, static report => Assert.InRange(report.Through, 1, 10));

        cluster.Simulation.Network.Filter = null;
        Assert.True(cluster.RunUntil(() => cluster.Hosts.All(host => ReportedTo(host).GetValueOrDefault(cluster[0].Key) == 20)));
    }

    [Fact]
    public void Messages_not_taken_by_a_slow_reader_are_reported_to_it_when_it_takes_them()
    {
        var cluster = Running(3, members: 3);
        var sink = cluster[1].SinkOf(Topic);
        sink.IsFull = true;
        cluster[0].PublishAll(Topic, 20, 100);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(20, ReportedTo(cluster[2])[cluster[0].Key]);
        Assert.Empty(ReportedTo(cluster[1]));

        sink.IsFull = false;
        cluster[1].Resume(Topic);
        Assert.True(cluster.RunUntil(() => ReportedTo(cluster[1]).GetValueOrDefault(cluster[0].Key) == 20));
    }

    [Fact]
    public void A_subscription_that_does_not_ask_is_not_notified()
    {
        var cluster = Running(4, members: 2, reports: false);
        cluster[0].PublishAll(Topic, 20, 100);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(20, cluster[1].Log.Count);
        Assert.Empty(_reports);
    }

    [Fact]
    public void A_topic_that_is_not_pinned_cannot_report_it()
    {
        var cluster = Running(5, members: 0);
        var channel = new ChannelSpec(2) { ReportsStable = true };
        var refusal = Assert.Throws<ArgumentException>(() => cluster[0].Multicast.OpenSubscription(channel, new Host.Sink(cluster[0])));
        Assert.StartsWith("Topic 2 reports what is stable and is not pinned.", refusal.Message, StringComparison.Ordinal);
    }

    // Members join, leave and crash, and packets are lost.
    [Fact]
    public void Each_member_that_is_left_of_a_view_delivers_what_was_stable_in_it()
    {
        int compared = 0;
        for (ulong seed = 1; seed <= 60; seed++)
        {
            _reports.Clear();
            var chance = new Random((int)seed);
            var link = new LinkModel { Loss = chance.NextDouble() * 0.2, Jitter = TimeSpan.FromMilliseconds(chance.Next(3)) };
            var cluster = Running(seed, members: 5, link);
            var churn = new PinnedChurn(cluster, Topic, chance, crashOneIn: 3);
            churn.Run(steps: 8);

            var left = churn.Left.Where(static host => host.IsSubscribed(Topic)).ToList();
            bool isDone = cluster.RunUntil(
                () => left.TrueForAll(host => host.Views.Count > 0 && host.Views[^1].By == host.SinkOf(Topic)
                    && OfLastSubscription(host).GroupBy(static one => one.Sender).All(
                        run => ReportedTo(host).GetValueOrDefault(run.Key) >= run.Max(static one => one.Sequence))),
                seconds: 60);
            Assert.True(isDone, $"Seed {seed}: not all that was delivered was reported.");
            compared += AssertStable(seed, cluster);
        }

        Assert.InRange(compared, 1_000, int.MaxValue);
    }

    // Of each report about a message that was sent in the view, every member that passes to the next view, or is still in this one, has
    // delivered the message in this view.
    private int AssertStable(ulong seed, MulticastCluster cluster)
    {
        int compared = 0;
        foreach (var report in _reports)
        {
            var view = report.Host.Views[report.View];
            int at = report.Host.Log.FindIndex(view.At, one => one.Sender == report.Sender && one.Sequence == report.Through);
            if (at < 0 || at >= EndOf(report.Host, report.View))
            {
                // It was sent in an earlier view.
                continue;
            }

            foreach (var other in cluster.Hosts.Where(static host => host.Node.IsUp))
            {
                int same = other.Views.FindIndex(seen => seen.View.Configuration == view.View.Configuration);
                if (same >= 0 && other.IsSubscribed(Topic) && other.Views[same].By == other.Views[^1].By)
                {
                    compared++;
                    int found = other.Log.FindIndex(
                        other.Views[same].At, one => one.Sender == report.Sender && one.Sequence == report.Through);
                    Assert.True(
                        found >= 0 && found < EndOf(other, same),
                        $"Seed {seed}: {other.Key} has not delivered {report.Through} of {report.Sender} in {view.View}.");
                }
            }
        }

        return compared;
    }

    private static IEnumerable<Received> OfLastSubscription(Host host) =>
        host.Log.Skip(host.Views.First(seen => seen.By == host.Views[^1].By).At);

    private static int EndOf(Host host, int view) => view + 1 < host.Views.Count ? host.Views[view + 1].At : host.Log.Count;

    private Dictionary<NodeKey, long> ReportedTo(Host host) => _reports.Where(report => report.Host == host)
        .GroupBy(static report => report.Sender).ToDictionary(static run => run.Key, static run => run.Last().Through);

    private MulticastCluster Running(ulong seed, int members, LinkModel? link = null, bool reports = true)
    {
        var cluster = new MulticastCluster(seed, Math.Max(members, 1), link);
        cluster.Service.Pinned.Add(Topic);
        foreach (var host in cluster.Hosts)
        {
            host.ReportsStable = reports;
            host.OnSubscribed = sink => sink.OnReportedStable = (sender, through) => Note(host, sink, sender, through);
            host.Publishes(Topic);
        }

        foreach (var host in cluster.Hosts.Take(members))
        {
            host.Subscribes(Topic);
        }

        cluster.Commit();
        return cluster;
    }

    private void Note(Host host, Host.Sink sink, NodeKey sender, long through)
    {
        Assert.True(host.Views.Count > 0 && host.Views[^1].By == sink, "A report came before the first view.");
        Assert.Contains(host.Log, one => one.Sender == sender && one.Sequence == through);
        long before = _reports.Where(report => report.Host == host && report.Sink == sink && report.Sender == sender)
            .Select(static report => report.Through).LastOrDefault();
        Assert.True(through > before, $"{through} of {sender} was reported after {before}.");
        _reports.Add(new Report(host, sink, sender, through, host.Views.Count - 1));
    }

    private sealed record Report(Host Host, Host.Sink Sink, NodeKey Sender, long Through, int View);
}
