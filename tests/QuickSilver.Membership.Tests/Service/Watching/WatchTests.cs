using System.Net;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Service.Watching;

// Observers of a cluster: what they learn, and what they cost.
public sealed class WatchTests
{
    private static readonly WatchMessage Watch =
        new() { Cluster = "default", ProtocolVersion = ControlFrame.ProtocolVersion, Rows = 10 };

    [Fact]
    public void An_observer_gets_every_node_and_is_none_itself()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(3);
        nodes[1].Signs = _ =>
            new NodeSnapshot { PendingPackets = 9, Trouble = "slow", TopicRows = [new TopicSnapshot("t") { Published = 4 }] };
        var observer = new FakeObserver(cluster.World, FakeCluster.EndPoint).Ask();
        cluster.Run(0.2);

        Assert.Equal(nodes.Select(node => node.Key), observer.Last.Nodes.Select(node => node.Node.Node));
        Assert.Equal(nodes.Select(node => node.EndPoint), observer.Last.Nodes.Select(node => node.Node.EndPoint));
        Assert.All(observer.Last.Nodes, node => Assert.Equal(SnapshotOutcome.Reported, node.Node.Outcome));
        var signs = observer.Last.Nodes[1].Signs!;
        Assert.Equal((9, "slow", "t", 4), (signs.PendingPackets, signs.Trouble, signs.TopicRows[0].Name, signs.TopicRows[0].Published));
        Assert.Equal((3, 3, 1), (observer.Last.Service.Nodes, observer.Last.Service.Reported, observer.Last.Service.Observers));
        Assert.Equal(nodes[0].Changes[^1].Number, observer.Last.Service.Configuration);
        Assert.Equal(3, cluster.Service.MemberCount);
    }

    [Fact]
    public void An_observer_gets_the_port_at_which_the_service_answers_echoes()
    {
        var cluster = new FakeCluster();
        var observer = new FakeObserver(cluster.World, FakeCluster.EndPoint).Ask();
        cluster.Run(0.2);
        Assert.Equal(FakeCluster.EndPoint.Port, observer.Last.Service.EchoPort);
    }

    [Fact]
    public void An_observer_that_sends_echoes_gets_the_key_of_the_cluster_with_each_answer_and_no_other_does()
    {
        var cluster = new FakeCluster(new MembershipServiceOptions { IsSealed = true });
        var nodes = cluster.AddNodes(2);
        var doctor = new FakeObserver(cluster.World, FakeCluster.EndPoint).Ask(sendsEchoes: true);
        var other = new FakeObserver(cluster.World, FakeCluster.EndPoint, seed: 78).Ask();
        cluster.Run(0.2);
        Assert.Equal((2, 2), (doctor.Last.Nodes.Count, other.Last.Nodes.Count));
        var key = nodes[0].Changes.Select(static change => change.ClusterKey).Last(static one => one is not null);
        Assert.Equal(key, doctor.Observer.ClusterKey);
        Assert.Null(other.Observer.ClusterKey);
        Assert.Null(doctor.Ended);
    }

    [Fact]
    public void Where_packets_are_not_sealed_there_is_no_key_to_send()
    {
        var cluster = new FakeCluster();
        cluster.AddNodes(1);
        var doctor = new FakeObserver(cluster.World, FakeCluster.EndPoint).Ask(sendsEchoes: true);
        cluster.Run(0.2);
        Assert.Single(doctor.Last.Nodes);
        Assert.Null(doctor.Observer.ClusterKey);
    }

    [Fact]
    public void Service_only_query_is_answered_when_observer_slots_are_full_and_asks_no_node()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(2);
        nodes[1].Signs = _ => null;
        ulong seed = 800;
        for (int i = 0; i < new SessionLimits().MaxObservers; i++)
        {
            new FakeObserver(cluster.World, FakeCluster.EndPoint, seed: seed++).Ask();
        }

        cluster.Run(2);
        int asked = nodes[0].SignsWanted;
        var observer = new FakeObserver(cluster.World, FakeCluster.EndPoint);
        observer.Observer.AskService();
        cluster.Run(0.1);
        Assert.Equal((2, 0, 8), (observer.Last.Service.Nodes, observer.Last.Service.Reported, observer.Last.Service.Observers));
        Assert.Equal(asked, nodes[0].SignsWanted);
        cluster.Run(2);
        Assert.StartsWith("The membership service at", observer.Ended);
    }

    [Fact]
    public void Nodes_are_asked_only_when_an_observer_asks()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(2);
        var observer = new FakeObserver(cluster.World, FakeCluster.EndPoint).Ask();
        cluster.Run(20);
        Assert.All(nodes, node => Assert.Equal(1, node.SignsWanted));
        Assert.Single(observer.Answers);
    }

    [Fact]
    public void A_node_that_does_not_answer_is_reported_as_silent_since_the_first_question_that_it_did_not_answer()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(2);
        nodes[1].Signs = _ => null;
        var observer = new FakeObserver(cluster.World, FakeCluster.EndPoint).Ask();
        cluster.Run(5);
        var silent = observer.Last.Nodes[1];
        Assert.Equal((SnapshotOutcome.Silent, null), (silent.Node.Outcome, silent.Signs));
        Assert.InRange(silent.Node.SilentMillis, 900, 1_100);
        Assert.NotNull(observer.Last.Nodes[0].Signs);

        observer.Ask();
        cluster.Run(2);
        Assert.InRange(observer.Last.Nodes[1].Node.SilentMillis, 5_900, 6_100);
        Assert.InRange(observer.Last.Nodes[1].Node.HeardMillis, 0, 1_100);

        nodes[1].Signs = _ => new NodeSnapshot();
        observer.Ask();
        cluster.Run(2);
        Assert.Equal((SnapshotOutcome.Reported, 0), (observer.Last.Nodes[1].Node.Outcome, observer.Last.Nodes[1].Node.SilentMillis));
    }

    [Fact]
    public void A_node_that_does_not_know_the_question_is_not_asked_and_is_reported_as_unable()
    {
        var cluster = new FakeCluster();
        cluster.AddNodes(1);
        var old = Connect(cluster);
        old.Send(RawClient.Join(7)).Send(SignalMessage.JoinComplete);
        cluster.Run(0.2);
        var observer = new FakeObserver(cluster.World, FakeCluster.EndPoint).Ask();
        cluster.Run(0.2);
        Assert.Equal([SnapshotOutcome.Reported, SnapshotOutcome.Unable], observer.Last.Nodes.Select(node => node.Node.Outcome));
        Assert.DoesNotContain(ControlMessageKind.SnapshotQuestion, old.Received);
    }

    [Fact]
    public void Nonsense_instead_of_vital_signs_is_reported_and_harms_no_node()
    {
        var cluster = new FakeCluster();
        cluster.AddNodes(1);
        var raw = Connect(cluster);
        raw.Send(RawClient.Join(7) with { ReportsSigns = true }).Send(SignalMessage.JoinComplete);
        cluster.Run(0.2);
        var observer = new FakeObserver(cluster.World, FakeCluster.EndPoint).Ask();
        cluster.Run(0.1);
        raw.Send(new Nonsense(ControlMessageKind.Snapshot, 1, [0xFF, 1, 2]));
        cluster.Run(0.2);
        Assert.StartsWith("invalid vital signs: ", observer.Last.Nodes[1].Fault);
        Assert.False(raw.IsClosed);
        Assert.NotNull(observer.Last.Nodes[0].Signs);
    }

    [Fact]
    public void Vital_signs_over_the_limit_close_the_session_of_their_node()
    {
        var cluster = new FakeCluster();
        var raw = Connect(cluster);
        raw.Send(RawClient.Join(7) with { ReportsSigns = true }).Send(SignalMessage.JoinComplete);
        raw.Send(new Nonsense(ControlMessageKind.Snapshot, 1, new byte[NodeSnapshot.MaxBytes]));
        cluster.Run(0.1);
        Assert.False(raw.IsClosed);
        raw.Send(new Nonsense(ControlMessageKind.Snapshot, 1, new byte[NodeSnapshot.MaxBytes + 1]));
        cluster.Run(0.1);
        Assert.True(raw.IsClosed);
    }

    [Fact]
    public void Observers_that_ask_often_share_at_most_ten_questions_a_second()
    {
        var cluster = new FakeCluster();
        var node = cluster.AddNodes(1)[0];
        var observers = Enumerable.Range(0, 5)
            .Select(i => new FakeObserver(cluster.World, FakeCluster.EndPoint, seed: (ulong)(500 + i)) { AsksOn = true }.Ask()).ToList();
        cluster.Run(10);
        Assert.InRange(node.SignsWanted, 50, 101);
        Assert.All(observers, observer => Assert.InRange(observer.Answers.Count, 50, 101));
    }

    [Fact]
    public void An_observer_that_asks_again_before_it_was_answered_is_closed()
    {
        var cluster = new FakeCluster();
        var node = cluster.AddNodes(1)[0];
        node.Signs = _ => null;
        var raw = Connect(cluster);
        raw.Send(Watch).Send(Watch);
        cluster.Run(0.1);
        Assert.True(raw.IsClosed);
    }

    [Fact]
    public void An_observer_that_does_not_read_is_closed_and_others_continue()
    {
        var cluster = new FakeCluster(new MembershipServiceOptions { Limits = new SessionLimits { MaxPendingBytes = 4_000 } });
        cluster.AddNodes(10);
        var observer = new FakeObserver(cluster.World, FakeCluster.EndPoint) { AsksOn = true }.Ask();
        var raw = Connect(cluster);
        raw.Stream.Peer!.IsStalled = true;
        for (int i = 0; i < 100 && cluster.Counters.SlowSessionsClosed == 0; i++)
        {
            raw.Send(Watch);
            cluster.Run(0.3);
        }

        Assert.Equal(1, cluster.Counters.SlowSessionsClosed);
        int before = observer.Answers.Count;
        cluster.Run(1);
        Assert.True(observer.Answers.Count > before);
        Assert.Equal(1, observer.Last.Service.Observers);
    }

    [Fact]
    public void An_observer_that_does_not_ask_again_is_closed()
    {
        var cluster = new FakeCluster();
        var raw = Connect(cluster);
        raw.Send(Watch);
        cluster.Run(89);
        Assert.False(raw.IsClosed);
        cluster.Run(2);
        Assert.True(raw.IsClosed);
        Assert.Equal(0, cluster.Service.SessionCount);
    }

    [Fact]
    public void More_observers_than_allowed_are_refused_with_the_reason()
    {
        var cluster = new FakeCluster(new MembershipServiceOptions { Limits = new SessionLimits { MaxObservers = 2 } });
        var observers = Enumerable.Range(0, 3)
            .Select(i => new FakeObserver(cluster.World, FakeCluster.EndPoint, seed: (ulong)(500 + i)).Ask()).ToList();
        cluster.Run(0.5);
        Assert.Equal(2, observers.Count(observer => observer.Answers.Count == 1));
        var refused = Assert.Single(observers, observer => observer.IsRefused);
        Assert.Contains("already has 2 observers", refused.Ended);
        Assert.Equal(1, cluster.Counters.ObserversRefused);

        // A place that is free again can be taken.
        observers.Find(observer => !observer.IsRefused)!.Observer.Dispose();
        cluster.Run(0.5);
        var next = new FakeObserver(cluster.World, FakeCluster.EndPoint, seed: 600).Ask();
        cluster.Run(0.5);
        Assert.Single(next.Answers);
    }

    [Fact]
    public void Observers_that_take_nothing_for_30_s_give_way_to_those_that_come()
    {
        var cluster = new FakeCluster();
        var limits = new SessionLimits();
        var suspended = Enumerable.Range(0, limits.MaxObservers)
            .Select(i => new FakeObserver(cluster.World, FakeCluster.EndPoint, seed: (ulong)(500 + i)).Ask()).ToList();
        cluster.Run(5);
        var early = new FakeObserver(cluster.World, FakeCluster.EndPoint, seed: 600).Ask();
        cluster.Run(0.5);
        Assert.Contains("already has 8 observers, which is its limit: 1 at 10.0.0.", early.Ended);

        suspended[0].AsksOn = true;
        suspended[0].Ask();
        cluster.Run(limits.ObserverGivesWay.TotalSeconds);
        var comes = new FakeObserver(cluster.World, FakeCluster.EndPoint, seed: 601) { AsksOn = true }.Ask();
        cluster.Run(0.5);
        Assert.NotEmpty(comes.Answers);
        Assert.Null(suspended[0].Ended);
        Assert.Single(suspended, static one => one.Ended is not null);
    }

    [Fact]
    public void Observers_that_take_nothing_stay_while_there_is_a_place()
    {
        var cluster = new FakeCluster();
        var suspended = new FakeObserver(cluster.World, FakeCluster.EndPoint).Ask();
        cluster.Run(new SessionLimits().ObserverGivesWay.TotalSeconds + 5);
        var comes = new FakeObserver(cluster.World, FakeCluster.EndPoint, seed: 601).Ask();
        cluster.Run(0.5);
        Assert.Single(comes.Answers);
        Assert.Null(suspended.Ended);
    }

    [Fact]
    public void One_address_leaves_places_for_observers_elsewhere()
    {
        var cluster = new FakeCluster(new MembershipServiceOptions { Limits = new SessionLimits { MaxObserversPerAddress = 1 } });
        var at = cluster.World.AddNode(70);
        var raws = new[] { new RawClient(at), new RawClient(at) };
        cluster.World.RunUntil(() => raws.All(static one => one.IsConnected));
        foreach (var raw in raws)
        {
            raw.Send(new WatchMessage { Cluster = "default", ProtocolVersion = ControlFrame.ProtocolVersion, Rows = 1 });
        }

        var elsewhere = new FakeObserver(cluster.World, FakeCluster.EndPoint).Ask();
        cluster.Run(2.5);
        Assert.Equal((false, true), (raws[0].IsClosed, raws[1].IsClosed));
        Assert.Single(elsewhere.Answers);
    }

    [Fact]
    public void An_observer_of_another_cluster_is_refused_with_the_name()
    {
        var cluster = new FakeCluster();
        var observer = new FakeObserver(cluster.World, FakeCluster.EndPoint, "other").Ask();
        cluster.Run(0.5);
        Assert.Equal(
            "This membership service serves the cluster 'default', but 'other' was asked for. Check the name of the cluster.",
            observer.Ended);
    }

    [Fact]
    public void Nodes_beyond_the_limit_are_counted_and_not_reported()
    {
        var limits = new SessionLimits { MaxSignsNodes = 3, MaxSignsRowsInAll = 20 };
        var cluster = new FakeCluster(new MembershipServiceOptions { Limits = limits });
        var nodes = cluster.AddNodes(5);
        int rows = 0;
        nodes[0].Signs = wanted =>
        {
            rows = wanted;
            return new NodeSnapshot();
        };
        var observer = new FakeObserver(cluster.World, FakeCluster.EndPoint).Ask(rows: 10);
        cluster.Run(0.5);
        Assert.Equal((5, 3, 3), (observer.Last.Service.Nodes, observer.Last.Service.Reported, observer.Last.Nodes.Count));
        Assert.Equal(4, rows);
    }

    [Fact]
    public void An_observer_that_looks_for_the_service_finds_it_on_the_network()
    {
        var world = new FakeWorld();
        var host = FakeNode.Start(world, 1, service: null);
        world.RunUntil(() => host.Nodes.Count == 1);
        var observer = new FakeObserver(world, service: null).Ask();
        world.RunUntil(() => observer.Answers.Count == 1);
        Assert.Equal(host.Key, Assert.Single(observer.Last.Nodes).Node.Node);

        var lost = new FakeObserver(world, service: null, "other's", seed: 78).Ask();
        world.Run(TimeSpan.FromSeconds(6));
        Assert.StartsWith("No membership service of cluster 'other's' answered on the network of", lost.Ended);
        Assert.EndsWith(
            "Check the name of the cluster and the secret, or give the address of the service: one with another secret does not answer.",
            lost.Ended);
    }

    // As one that was suspended between its question and the answer.
    [Fact]
    public void An_observer_that_stood_still_while_it_waited_reads_the_answer_that_came()
    {
        var cluster = new FakeCluster();
        var observer = new FakeObserver(cluster.World, FakeCluster.EndPoint).Ask();
        cluster.Run(1);
        Assert.Single(observer.Answers);
        observer.Ask();
        observer.Environment.Pause();
        cluster.Run(40);
        observer.Environment.Resume();
        cluster.Run(1);
        Assert.Null(observer.Ended);
        Assert.Equal(2, observer.Answers.Count);
    }

    [Fact]
    public void An_address_without_a_membership_service_is_named()
    {
        var cluster = new FakeCluster();
        var nothing = new FakeObserver(cluster.World, new IPEndPoint(FakeCluster.EndPoint.Address, 1)).Ask();
        var silent = Listen(cluster, 2, _ => { });
        var closing = Listen(cluster, 3, stream => stream.Close());
        var speaking = Listen(cluster, 4, stream => stream.Send("HTTP/1.1 400 Bad Request"u8));
        cluster.Run(10);
        Assert.Contains("Cannot connect to a membership service", nothing.Ended);
        Assert.Contains("did not answer within 5 s", silent.Ended);
        Assert.Contains("closed the connection without an answer", closing.Ended);
        Assert.Contains("does not speak as a membership service of QuickSilver does: invalid frame", speaking.Ended);
    }

    [Fact]
    public void A_service_that_ends_ends_its_observers()
    {
        var cluster = new FakeCluster();
        cluster.AddNodes(1);
        var observer = new FakeObserver(cluster.World, FakeCluster.EndPoint) { AsksOn = true }.Ask();
        cluster.Run(1);
        cluster.Service.Retire(null);
        cluster.Run(1);
        Assert.Equal($"The membership service at {FakeCluster.EndPoint} has ended.", observer.Ended);
    }

    private static RawClient Connect(FakeCluster cluster)
    {
        var raw = new RawClient(cluster);
        cluster.World.RunUntil(() => raw.IsConnected);
        return raw;
    }

    private static FakeObserver Listen(FakeCluster cluster, int port, Action<IControlStream> onBytes)
    {
        var at = new IPEndPoint(FakeCluster.EndPoint.Address, port);
        cluster.ServiceEnvironment.Listen(at, new Acceptor(onBytes));
        return new FakeObserver(cluster.World, at, seed: (ulong)(900 + port)).Ask();
    }

    private readonly record struct Nonsense(int Kind, ulong Question, byte[] Bytes) : IControlMessage
    {
        public void Write(ControlBuffer buffer)
        {
            buffer.UInt64(1, Question);
            buffer.Bytes(2, Bytes);
        }
    }

    private sealed class Acceptor(Action<IControlStream> onBytes) : IControlAcceptor, IControlStreamHandler
    {
        public IControlStreamHandler? OnAccept(IControlStream stream) => this;

        public void OnConnected(IControlStream stream)
        {
        }

        public int OnBytes(IControlStream stream, ReadOnlySpan<byte> bytes)
        {
            onBytes(stream);
            return bytes.Length;
        }

        public void OnClosed(IControlStream stream, string reason)
        {
        }
    }
}
