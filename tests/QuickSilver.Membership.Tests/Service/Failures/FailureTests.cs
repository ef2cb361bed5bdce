using QuickSilver.Core.Environment;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Service.Failures;
using QuickSilver.Membership.Tests.Infrastructure;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Service.Failures;

// F3, F4, F5, F6, F16; I10.
public sealed class FailureTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private static readonly NodeKey A = new(1, 1), B = new(2, 1), C = new(3, 1);

    private readonly FailureDetector _detector = new(new FailureDetectorOptions());
    private TimeSpan _now = Second * 100;

    private List<NodeKey> Check(int regionSize = 3)
    {
        var dead = new List<(NodeKey Node, string Reason)>();
        _detector.Collect(_now, _ => regionSize, dead);
        return dead.ConvertAll(entry => entry.Node);
    }

    // Time passes as it does for a service that runs: with a check at every interval. These nodes speak meanwhile.
    private List<NodeKey> Pass(double seconds, int regionSize = 3, params NodeKey[] speaking)
    {
        var dead = new List<NodeKey>();
        for (double passed = 0; passed < seconds && dead.Count == 0; passed += 0.25)
        {
            _now += Second / 4;
            Array.ForEach(speaking, node => _detector.Heard(node, _now));
            dead = Check(regionSize);
        }

        return dead;
    }

    private void TrackAll()
    {
        Array.ForEach([A, B, C], node => _detector.Track(node, _now));
        Check();
    }

    [Fact]
    public void A_node_that_misses_ten_heartbeats_is_removed_and_not_before()
    {
        TrackAll();
        Assert.Empty(Pass(9.75, 3, B, C));
        Assert.Equal([A], Pass(0.25, 3, B, C));
    }

    [Fact]
    public void Two_reporters_and_two_missed_heartbeats_remove_and_one_that_reports_twice_is_one()
    {
        TrackAll();
        _detector.Suspect(A, B, _now);
        _detector.Suspect(A, B, _now);
        Assert.Empty(Pass(2, 3, B, C));
        _detector.Suspect(A, C, _now);
        Assert.Equal([A], Check());
    }

    [Fact]
    public void Reporters_that_stop_do_not_remove_a_node_that_speaks()
    {
        TrackAll();
        for (int second = 0; second < 4; second++)
        {
            _detector.Suspect(A, B, _now);
            _detector.Suspect(A, C, _now);
            Assert.Empty(Pass(1, 3, A, B, C));
        }

        Assert.Empty(Pass(5, 3, A, B, C));
        _detector.Suspect(A, B, _now);
        _detector.Suspect(A, C, _now);
        Assert.Empty(Check());
    }

    [Fact]
    public void Reporters_that_continue_do_not_by_themselves_remove_a_node_that_speaks()
    {
        TrackAll();
        for (int second = 0; second < 30; second++)
        {
            _detector.Suspect(A, B, _now);
            _detector.Suspect(A, C, _now);
            Assert.Empty(Pass(1, 3, A, B, C));
        }
    }

    [Fact]
    public void One_reporter_and_three_missed_heartbeats_remove()
    {
        TrackAll();
        _detector.Suspect(A, B, _now);
        Assert.Empty(Pass(2.75, 3, B, C));
        Assert.Equal([A], Pass(0.25, 3, B, C));
    }

    [Fact]
    public void In_a_region_of_two_one_reporter_and_two_missed_heartbeats_remove()
    {
        TrackAll();
        _detector.Suspect(A, B, _now);
        Assert.Empty(Pass(1.75, 2, B, C));
        Assert.Equal([A], Pass(0.25, 2, B, C));
    }

    [Fact]
    public void A_lone_reporter_does_not_remove_a_node_that_speaks_and_a_report_grows_stale()
    {
        TrackAll();
        _detector.Suspect(A, B, _now);
        Assert.Empty(Pass(12, 2, A, B, C));
        _detector.Suspect(A, C, _now);
        Assert.Empty(Check());
    }

    [Fact]
    public void Reports_of_the_unknown_and_of_oneself_do_not_count()
    {
        TrackAll();
        _detector.Suspect(A, new NodeKey(9, 1), _now);
        _detector.Suspect(A, A, _now);
        Assert.Empty(Pass(4, 2, B, C));
    }

    [Fact]
    public void The_time_the_service_itself_stood_still_is_nobodys_silence()
    {
        TrackAll();
        _detector.Suspect(A, B, _now);
        _now += Second * 60;
        Assert.Empty(Check());
        Assert.Empty(Pass(9.5, 3));
        Assert.Equal([A, B, C], Pass(0.75, 3));
    }

    [Theory]
    [InlineData(0.06)]
    [InlineData(0.8)]
    [InlineData(60)]
    public void A_pause_of_the_service_is_taken_off_the_silence_of_all_nodes_once(double seconds)
    {
        TrackAll();
        Pass(9, 3, B, C);
        _now += Second * seconds;
        _detector.OnPause(Second * seconds, _now);
        Assert.Empty(Check());
        Assert.Empty(Pass(0.75, 3, B, C));
        Assert.Equal([A], Pass(0.25, 3, B, C));
    }

    [Fact]
    public void A_pause_of_the_service_makes_no_node_heard_in_the_future()
    {
        TrackAll();
        _detector.OnPause(Second * 60, _now);
        Assert.Empty(Pass(9.75, 3, B, C));
        Assert.Equal([A], Pass(0.25, 3, B, C));
    }

    [Fact]
    public void A_node_that_reported_a_pause_may_miss_all_heartbeats_whatever_its_neighbours_report()
    {
        TrackAll();
        _detector.Suspect(A, B, _now);
        _detector.Excuse(A, _now);
        for (int second = 1; second < 10; second++)
        {
            _detector.Suspect(A, B, _now);
            _detector.Suspect(A, C, _now);
            Assert.Empty(Pass(1, 3, B, C));
        }

        Assert.Equal([A], Pass(1, 3, B, C));
    }

    [Fact]
    public void Ten_minutes_after_a_pause_reports_count_again()
    {
        TrackAll();
        _detector.Excuse(A, _now);
        Assert.Empty(Pass(600, 3, A, B, C));
        _detector.Suspect(A, B, _now);
        _detector.Suspect(A, C, _now);
        Assert.Equal([A], Pass(2.25, 3, B, C));
    }

    [Fact]
    public void A_node_reports_a_pause_and_its_neighbours_reports_are_forgotten()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(3);
        Array.ForEach(nodes, node => node.Subscribe("A"));
        cluster.Run(1);
        foreach (double seconds in new[] { 0.9, 2.8, 8 })
        {
            nodes[2].Environment.Pause();
            for (double passed = 0; passed < seconds; passed += 0.25)
            {
                nodes[0].Client.ReportSuspect(nodes[2].Key, "silent");
                nodes[1].Client.ReportSuspect(nodes[2].Key, "silent");
                cluster.Run(0.25);
            }

            nodes[2].Environment.Resume();
            cluster.Run(30);
            Assert.Equal(3, nodes[0].Nodes.Count);
        }

        Assert.Equal((3, 3), (cluster.Counters.PausesReported, cluster.Counters.PausesExcused));
        Assert.Equal(0, cluster.Counters.NodesRemoved);
    }

    [Fact]
    public void Reports_of_members_that_share_no_region_with_the_node_change_nothing()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(5);
        Array.ForEach(nodes[..2], static node => node.Subscribe("A"));
        Array.ForEach(nodes[2..], static node => node.Subscribe("B"));
        cluster.Run(2);
        Report(30, 0, 1);
        Assert.Equal((0, 60), (cluster.Counters.FaultArbitrations, cluster.Counters.SuspicionsIgnored));

        // It is silent, and has the time of all heartbeats, unless one of its own region misses it too.
        nodes[2].Environment.Pause();
        Report(7, 0, 1);
        Assert.Equal(0, cluster.Counters.NodesRemoved);
        Report(1, 3);
        Assert.Equal(1, cluster.Counters.NodesRemoved);

        void Report(int seconds, params int[] reporters)
        {
            for (int second = 0; second < seconds; second++)
            {
                Array.ForEach(reporters, reporter => nodes[reporter].Client.ReportSuspect(nodes[2].Key, "silent"));
                cluster.Run(1);
            }
        }
    }

    [Theory]
    [InlineData(true, 1)]
    [InlineData(false, 0)]
    public void Reports_of_those_that_only_send_to_a_node_hasten_its_removal_if_it_has_no_neighbours(bool isAlone, int removed)
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(4);
        Array.ForEach(nodes[2..(isAlone ? 3 : 4)], static node => node.Open("B", TopicRole.Subscribe));
        Array.ForEach(nodes[..2], static node => node.Open("B", TopicRole.Publish));
        cluster.Run(2);
        nodes[2].Environment.Pause();
        for (int second = 0; second < 6; second++)
        {
            nodes[0].Client.ReportSuspect(nodes[2].Key, "no acknowledgement");
            nodes[1].Client.ReportSuspect(nodes[2].Key, "no acknowledgement");
            cluster.Run(1);
        }

        Assert.Equal(removed, cluster.Counters.NodesRemoved);
    }

    [Fact]
    public void A_report_of_one_that_shared_a_view_counts_while_a_superseded_view_is_open()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(3);
        Array.ForEach(nodes, static node => node.Subscribe("A"));
        cluster.Run(1);
        nodes[0].Confirms = false;
        nodes[1].Close("A");
        cluster.Run(1);
        nodes[1].Client.ReportSuspect(nodes[2].Key, "silent");
        cluster.Run(1);
        Assert.Equal(0, cluster.Counters.SuspicionsIgnored);
    }

    [Fact]
    public void A_pause_that_cost_no_heartbeat_is_not_reported()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(2);
        nodes[1].Environment.Pauses.Report(new Pause(Second * 0.4, PauseCause.Collector));
        cluster.Run(1);
        Assert.Equal(0, cluster.Counters.PausesReported);
    }

    [Fact]
    public void A_member_that_claims_pauses_all_the_time_is_trusted_only_sometimes()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(2);
        for (int i = 0; i < 600; i++)
        {
            nodes[1].Environment.Pauses.Report(new Pause(TimeSpan.FromDays(40), PauseCause.Handler));
            cluster.Run(0.1);
        }

        Assert.Equal(600, cluster.Counters.PausesReported);
        // It speaks all the time, so it was never silent for half a heartbeat.
        Assert.Equal(0, cluster.Counters.PausesExcused);
        for (int i = 0; i < 60; i++)
        {
            cluster.Run(0.9);
            nodes[1].Environment.Pauses.Report(new Pause(TimeSpan.FromDays(40), PauseCause.Handler));
        }

        Assert.InRange(cluster.Counters.PausesExcused, 1, 60 / 10);
    }

    [Fact]
    public void A_service_that_stood_still_removes_no_node_and_closes_no_session_that_was_not_late_before()
    {
        var cluster = new FakeCluster();
        cluster.AddNodes(3);
        var joining = new RawClient(cluster);
        cluster.Run(0.5);
        cluster.ServiceEnvironment.Pause();
        cluster.Run(60);
        cluster.ServiceEnvironment.Resume();
        cluster.Run(1);
        Assert.Equal((0, 0), (cluster.Counters.NodesRemoved, cluster.Counters.SessionsNeverJoined));
        Assert.False(joining.IsClosed);
        cluster.Run(cluster.Options.Limits.JoinTimeout.TotalSeconds);
        Assert.True(joining.IsClosed);
    }

    [Fact]
    public void A_closed_connection_is_given_a_grace()
    {
        TrackAll();
        _detector.Disconnected(A, _now);
        Assert.Empty(Pass(1.75, 3, B, C));
        Assert.Equal([A], Pass(0.25, 3, B, C));
    }

    [Fact]
    public void A_killed_process_is_gone_from_all_views_within_the_grace()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(3);
        Array.ForEach(nodes, node => node.Subscribe("A"));
        cluster.Run(1);
        var at = cluster.World.Now;
        nodes[2].Environment.Crash();
        cluster.World.RunUntil(() => nodes[0].Nodes.Count == 2);
        Assert.InRange((cluster.World.Now - at).TotalSeconds, 2, 2.5);
        cluster.Run(0.01);
        Assert.Equal([[1, 2]], nodes[1].MembersOf("A"));
        Assert.Contains(nodes[2].Key, nodes[0].Changes[^1].Removed);
    }

    [Fact]
    public void A_node_whose_connection_breaks_comes_back_and_misses_no_configuration()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(3);
        Array.ForEach(nodes, node => node.Subscribe("A"));
        cluster.Run(1);
        var cut = nodes[1].Environment;
        cluster.World.IsBlocked = (from, to) => from == cut || to == cut;
        cut.BreakStreams();
        nodes[0].Subscribe("B");
        cluster.Run(0.4);
        nodes[0].Subscribe("C");
        cluster.Run(0.4);
        cluster.World.IsBlocked = (_, _) => false;
        cluster.World.RunUntil(() => nodes[1].Client.IsReachable && nodes[1].Changes.Count == nodes[2].Changes.Count);
        Assert.Equal(nodes[2].Changes.Select(change => change.Number), nodes[1].Changes.Select(change => change.Number));
        Assert.Single(nodes[1].Changes, change => change.IsSnapshot);
        Assert.Equal(1, cluster.Counters.NodesResumed);
        Assert.Equal(0, cluster.Counters.NodesRemoved);
    }

    [Fact]
    public void Topics_opened_and_closed_while_disconnected_take_effect_after_reconnecting()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(2);
        nodes[0].Subscribe("A", "B", "C");
        nodes[1].Subscribe("A", "B", "C");
        cluster.Run(1);
        var before = nodes[0].Regions.Values.Single();
        nodes[1].Environment.BreakStreams();
        cluster.Run(0.001);
        Assert.False(nodes[1].Client.IsReachable);
        nodes[1].Close("B");
        nodes[1].Close("C");
        nodes[1].Subscribe("C", "D");
        cluster.Run(1.5);
        Assert.Equal(["A", "C", "D"], new[] { "A", "B", "C", "D" }.Where(nodes[1].Has));
        Assert.Equal(1, nodes[0].View("B").Subscribers);
        Assert.Equal(2, nodes[0].View("C").Subscribers);
        Assert.True(nodes[1].View("C").Configuration > before.Configuration, "it starts in a view of its own");
        Assert.Equal(5, nodes[1].Outcomes.Count);
    }

    [Fact]
    public void A_paused_node_is_removed_and_learns_it_when_it_resumes()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(2);
        nodes[1].Environment.Pause();
        cluster.World.RunUntil(() => nodes[0].Nodes.Count == 1);
        nodes[1].Environment.Resume();
        cluster.World.RunUntil(() => nodes[1].Expelled is not null);
        Assert.Contains("missed", nodes[1].Expelled);
        cluster.Run(5);
        Assert.Single(nodes[0].Nodes);
        Assert.False(nodes[1].Client.IsReachable);
    }

    [Fact]
    public void A_node_that_lost_its_connection_for_too_long_is_expelled_when_it_comes_back()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(2);
        var cut = nodes[1].Environment;
        cluster.World.IsBlocked = (from, to) => from == cut || to == cut;
        cut.BreakStreams();
        cluster.World.RunUntil(() => nodes[0].Nodes.Count == 1);
        cluster.World.IsBlocked = (_, _) => false;
        cluster.World.RunUntil(() => nodes[1].Expelled is not null);
        Assert.Equal("its connection closed and it did not reconnect in time", nodes[1].Expelled);
    }

    [Fact]
    public void A_newer_incarnation_replaces_the_old_one_at_once_in_one_configuration()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(2);
        nodes[0].Subscribe("A");
        nodes[1].Subscribe("A");
        cluster.Run(1);
        var reborn = cluster.AddNode(2, incarnation: 2);
        reborn.Subscribe("A");
        cluster.World.RunUntil(() => nodes[0].Nodes.ContainsKey(reborn.Key), limitSeconds: 0.2);
        var change = nodes[0].Changes[^1];
        Assert.Equal([nodes[1].Key], change.Removed.AsEnumerable());
        Assert.Equal([reborn.Key], change.Joined.Select(info => info.Key));
        Assert.Equal([nodes[0].Key, reborn.Key], nodes[0].Regions.Values.Single().Members.AsEnumerable());
        cluster.Run(0.1);
        Assert.Contains("newer incarnation", nodes[1].Expelled);
    }

    // Incarnations come from a clock, and a machine's may be behind when it starts again.
    [Fact]
    public void The_life_that_joins_last_is_the_newer_one_whatever_its_incarnation_says()
    {
        var cluster = new FakeCluster();
        var old = cluster.AddNode(1, incarnation: 5);
        cluster.Run(1);
        var reborn = cluster.AddNode(1, incarnation: 4);
        cluster.Run(1);
        Assert.Null(reborn.Expelled);
        Assert.Equal([reborn.Key], reborn.Nodes.Keys);
        Assert.Contains("newer incarnation", old.Expelled);
        Assert.Equal(1, cluster.Service.MemberCount);

        var ghost = cluster.AddNode(1, incarnation: 5);
        cluster.Run(1);
        Assert.Contains("another incarnation", ghost.Expelled);
        Assert.Null(reborn.Expelled);
    }


    // I23: with a service on a machine of its own, the side with the majority may be the one without it.
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void A_service_that_was_cut_off_from_most_of_its_nodes_takes_them_back_as_they_are(int nodesWithIt)
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(5);
        Array.ForEach(nodes, node => node.Subscribe("A"));
        cluster.Run(1);
        var away = nodes[nodesWithIt..];
        bool IsAway(FakeEnvironment environment) => Array.Exists(away, node => node.Environment == environment);
        cluster.World.IsBlocked = (from, to) => IsAway(from) != IsAway(to);
        cluster.Run(15);
        Assert.Equal(nodesWithIt, cluster.Service.MemberCount);
        cluster.World.IsBlocked = (_, _) => false;
        cluster.Run(6);
        Assert.All(nodes, node => Assert.Null(node.Expelled));
        Assert.All(nodes, node => Assert.Equal([[1, 2, 3, 4, 5]], node.MembersOf("A")));
        Assert.All(nodes, node => Assert.Equal(node.Changes[^1].Number, node.Settled));
        // They were together all the time, and continue with each other.
        Assert.Single(away.Select(node => (node.Nodes[node.Key].AdmittedAt, node.Nodes[node.Key].Origin)).Distinct());
    }
}
