using System.Buffers.Binary;
using System.Net;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Quotas;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Service.Sessions;

// F17, T9, T11; I17. One session's nonsense affects no other session.
public sealed class HostileSessionTests
{
    private static RawClient Connect(FakeCluster cluster)
    {
        var raw = new RawClient(cluster);
        cluster.World.RunUntil(() => raw.IsConnected);
        return raw;
    }

    [Fact]
    public void Where_descriptors_are_few_the_oldest_silent_client_of_the_address_with_the_most_gives_way()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(2);
        var (many, few, newcomer) = (cluster.World.AddNode(70), cluster.World.AddNode(71), cluster.World.AddNode(72));
        RawClient[] silent = [new(few), new(many), new(many), new(many), new(few)];
        cluster.World.RunUntil(() => silent.All(static one => one.IsConnected));

        GiveWay(newcomer);
        Assert.Equal([false, true, false, false, false], silent.Select(static one => one.IsClosed));
        // Neither of the two has far more than the other: a newcomer takes the place of its own oldest.
        GiveWay(few);
        Assert.Equal([true, true, false, false, false], silent.Select(static one => one.IsClosed));
        GiveWay(newcomer);
        GiveWay(newcomer);
        GiveWay(newcomer);
        Assert.All(silent, static one => Assert.True(one.IsClosed));

        // A session that has said what it wants stays.
        GiveWay(newcomer);
        Assert.Equal((2, 5), (cluster.Service.SessionCount, cluster.Counters.SessionsDisplaced));
        Assert.All(nodes, static node => Assert.True(node.Client.IsReachable));

        void GiveWay(FakeEnvironment to)
        {
            ((IControlAcceptor)cluster.Service).OnFewDescriptors(new IPEndPoint(to.LocalAddress, 1));
            cluster.Run(0.1);
        }
    }

    [Fact]
    public void Random_bytes_close_their_session_and_leave_the_cluster_as_it_was()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(2);
        nodes[0].Subscribe("A");
        cluster.Run(1);
        int changes = nodes[0].Changes.Count;
        Prop.ForAll<byte[]>(bytes =>
        {
            var raw = Connect(cluster);
            raw.SendBytes(bytes).SendBytes([0xFF, 0xFF, 0xFF, 0xFF]);
            cluster.Run(6);
            Assert.True(raw.IsClosed);
        }).QuickCheckThrowOnFailure();
        Assert.Equal(changes, nodes[0].Changes.Count);
        Assert.Equal(2, cluster.Service.SessionCount);
        Assert.True(nodes.All(node => node.Client.IsReachable));
        Assert.Equal(100, cluster.Counters.GarbageFrames + cluster.Counters.SessionsNeverJoined);
    }

    // Valid frames around random bodies reach the decoders.
    [Fact]
    public void Random_messages_of_every_kind_are_refused_or_understood_and_never_thrown_at()
    {
        var cluster = new FakeCluster();
        cluster.AddNodes(1);
        ulong id = 100;
        var bodies = Gen.Choose(0, 255).Select(b => (byte)b).ListOf().Select(list => list.ToArray());
        var messages = Gen.Choose(1, 12).SelectMany(kind => bodies.Select(body => (kind, body))).ListOf().Select(list => list.ToArray());
        Prop.ForAll(messages.ToArbitrary(), list =>
        {
            var raw = Connect(cluster);
            raw.Send(RawClient.Join(id++)).Send(SignalMessage.JoinComplete);
            foreach (var (kind, body) in list)
            {
                raw.SendBytes(Frame(kind, body));
            }

            cluster.Run(0.1);
            raw.Stream.Close();
            cluster.Run(3);
        }).QuickCheckThrowOnFailure();
        Assert.Equal(1, cluster.Service.SessionCount);
        Assert.Equal(101, cluster.Counters.NodesJoined);
        Assert.InRange(cluster.Counters.GarbageFrames, 10, 100);
    }

    [Fact]
    public void Messages_cut_short_or_with_a_bit_turned_are_read_without_harm()
    {
        var buffer = new ControlBuffer();
        var contract = Requests.Departure(new(1, "Flight", "string"), new(3, "Delay", "int32"));
        new SetTopicMessage { RequestId = 5, Topic = Requests.Topic("flights", TopicRole.Publish, contract) }.Write(buffer);
        byte[] valid = buffer.Written.ToArray();
        Assert.True(ControlFrame.TryRead<SetTopicMessage>(valid, out _, out _));
        for (int length = 0; length < valid.Length; length++)
        {
            _ = ControlFrame.TryRead<SetTopicMessage>(valid.AsSpan(0, length), out _, out _);
        }

        for (int bit = 0; bit < valid.Length * 8; bit++)
        {
            byte[] turned = [.. valid];
            turned[bit / 8] ^= (byte)(1 << (bit % 8));
            _ = ControlFrame.TryRead<SetTopicMessage>(turned, out _, out _);
        }
    }

    [Theory]
    [InlineData(0)]
    [InlineData(ControlFrame.MaxFromClientBytes + 1)]
    [InlineData(int.MaxValue)]
    [InlineData(-1)]
    public void A_length_that_is_none_or_over_the_cap_closes_before_anything_is_kept(int length)
    {
        var cluster = new FakeCluster();
        var raw = Connect(cluster);
        byte[] prefix = new byte[4];
        BinaryPrimitives.WriteInt32LittleEndian(prefix, length);
        raw.SendBytes(prefix);
        cluster.Run(0.1);
        Assert.True(raw.IsClosed);
        Assert.Equal(1, cluster.Counters.GarbageFrames);
    }

    [Fact]
    public void A_request_before_joining_closes_the_session()
    {
        var cluster = new FakeCluster();
        var raw = Connect(cluster);
        raw.Send(OpenViewsMessage.Confirm(5, []));
        cluster.Run(0.1);
        Assert.True(raw.IsClosed);
    }

    [Fact]
    public void A_second_join_closes_the_session()
    {
        var cluster = new FakeCluster();
        var raw = Connect(cluster);
        raw.Send(RawClient.Join(7)).Send(SignalMessage.JoinComplete).Send(RawClient.Join(7));
        cluster.Run(0.1);
        Assert.True(raw.IsClosed);
        Assert.Equal(1, cluster.Counters.GarbageFrames);
    }

    [Fact]
    public void A_connection_without_a_join_is_closed_after_five_seconds()
    {
        var cluster = new FakeCluster();
        var silent = Connect(cluster);
        var half = Connect(cluster);
        half.Send(RawClient.Join(7));
        cluster.Run(4.9);
        Assert.False(silent.IsClosed);
        cluster.Run(0.2);
        Assert.True(silent.IsClosed);
        Assert.True(half.IsClosed);
        Assert.Equal(2, cluster.Counters.SessionsNeverJoined);
        Assert.Equal(0, cluster.Service.MemberCount);
    }

    [Fact]
    public void More_sessions_than_allowed_are_refused_and_counted()
    {
        var cluster = new FakeCluster(new MembershipServiceOptions { Limits = new SessionLimits { MaxSessions = 2 } });
        var raws = Enumerable.Range(0, 3).Select(_ => new RawClient(cluster)).ToArray();
        cluster.Run(0.1);
        Assert.Equal(1, raws.Count(raw => raw.IsClosed));
        Assert.Equal(1, cluster.Counters.SessionsRefused);
    }

    [Fact]
    public void One_address_cannot_take_the_places_of_all_others()
    {
        var limits = new SessionLimits { MaxSessions = 10, MaxSessionsPerAddress = 4 };
        var cluster = new FakeCluster(new MembershipServiceOptions { Limits = limits });
        var crowd = Enumerable.Range(0, 20).Select(_ => new RawClient(cluster.World.Nodes[0])).ToArray();
        cluster.Run(0.1);
        Assert.Equal(16, crowd.Count(raw => raw.IsClosed));
        Assert.Equal(16, cluster.Counters.SessionsRefused);
        Assert.Equal(2, cluster.AddNodes(2).Length);

        // Places that are free again may be taken again.
        cluster.Run(6);
        var next = new RawClient(cluster.World.Nodes[0]);
        cluster.Run(0.1);
        Assert.False(next.IsClosed);
    }

    [Fact]
    public void Registrations_of_one_certificate_and_of_one_address_leave_room_for_those_of_others()
    {
        var limits = new SessionLimits { MaxRegistrationBytes = 2_000, MaxRegistrationBytesInAll = 5_000 };
        var room = new RegistrationRoom(limits);
        Assert.True(TryTake("greedy", 1, 1_500));
        Assert.False(TryTake("greedy", 2, 501));
        Assert.False(TryTake("another of the same machine", 1, 501));
        Assert.True(TryTake("greedy", 1, 500));
        Assert.True(TryTake("modest", 3, 2_000));
        Assert.True(TryTake("late", 4, 1_000));
        Assert.False(TryTake("late", 4, 1));
        room.GiveBack(Place("greedy", 1), 1_500);
        Assert.True(TryTake("late", 4, 1_000));
        Assert.True(TryTake("another of the same machine", 1, 500));
        Assert.False(TryTake("greedy", 1, 1));

        bool TryTake(string certificate, byte host, long bytes) => room.TryTake(Place(certificate, host), bytes);

        static PeerSource Place(string certificate, byte host) => new(new IPAddress([10, 0, 1, host]), certificate);
    }

    [Fact]
    public void Concurrent_registrations_are_bounded_and_refused_clients_retry()
    {
        var limits = new SessionLimits { MaxRegistrationBytesInAll = 4_000 };
        var cluster = new FakeCluster(new MembershipServiceOptions { Limits = limits });
        int Register(ulong id)
        {
            var raw = Connect(cluster);
            raw.Send(RawClient.Join(id));
            int named = 0;
            for (; named < 100 && !raw.IsClosed; named++)
            {
                raw.Send(new SetTopicMessage { RequestId = 1, Topic = Requests.Topic($"{id} {named}", TopicRole.Publish) });
                cluster.Run(0.001);
            }

            return named;
        }

        var half = Connect(cluster);
        half.Send(RawClient.Join(7));
        for (int i = 0; i < 20; i++)
        {
            half.Send(new SetTopicMessage { RequestId = 1, Topic = Requests.Topic($"topic {i}", TopicRole.Publish) });
        }

        cluster.Run(0.01);
        int beside = Register(8);
        Assert.InRange(beside, 1, 99);
        Assert.Equal(1, cluster.Counters.RegistrationsPutOff);
        Assert.False(half.IsClosed);
        half.Stream.Close();
        cluster.Run(0.01);
        Assert.True(Register(9) > beside);
    }

    // What is remembered of fields never shrinks while the topic is open.
    [Fact]
    public void Ever_new_contracts_of_one_client_are_refused_and_the_same_ones_never()
    {
        const int Most = 20_000;
        var cluster = new FakeCluster(new MembershipServiceOptions { Limits = new SessionLimits { MaxContractBytes = Most } });
        var node = cluster.AddNodes(1)[0];
        for (int i = 1; i <= 400; i++)
        {
            node.Open("A", TopicRole.Publish, Version(i));
        }

        cluster.Run(1);
        int granted = node.Outcomes.Count(outcome => outcome == "granted");
        Assert.InRange(granted, 100, 399);
        Assert.Contains("20,000 bytes of different contracts", node.Outcomes[^1]);

        // Known ones are as good as before, however often.
        node.Outcomes.Clear();
        for (int i = 1; i <= 400; i++)
        {
            int known = (i % granted) + 1;
            node.Open("A", TopicRole.Publish, Version(known));
        }

        cluster.Run(1);
        Assert.All(node.Outcomes, outcome => Assert.Equal("granted", outcome));
        var other = cluster.AddNode(2);
        other.Open("B", TopicRole.Publish, Requests.Departure(new ContractField(1000, "another", "int32")));
        cluster.Run(1);
        Assert.Equal(["granted"], other.Outcomes);

        static ContractDescription Version(int number) =>
            Requests.Departure(new(1, "A", "int32"), new(number + 1, $"field number {number} of a long row", "int32"));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_client_that_asks_again_and_again_for_what_costs_much_is_closed(bool isNode)
    {
        var cluster = new FakeCluster();
        cluster.AddNodes(2);
        cluster.Run(1);
        var raw = Connect(cluster);
        if (isNode)
        {
            raw.Send(RawClient.Join(7)).Send(SignalMessage.JoinComplete);
            cluster.Run(1);
        }

        var list = new ListTopicsMessage { Cluster = "default", ProtocolVersion = ControlFrame.ProtocolVersion, Name = "", After = 0 };
        for (int i = 0; i < 2_000 && !raw.IsClosed; i++)
        {
            _ = isNode ? raw.Send(KnownMessage.Resync(1)) : raw.Send(list);
            cluster.Run(0.001);
        }

        Assert.True(raw.IsClosed);
        Assert.Equal(1, cluster.Counters.GreedySessionsClosed);
        int answers = raw.Received.Count(kind => kind == (isNode ? ControlMessageKind.Configuration : ControlMessageKind.TopicList));
        // A snapshot comes in two parts.
        Assert.InRange(answers, isNode ? 2 * 50 : 1_000, isNode ? 2 * 60 : 1_200);
    }

    [Fact]
    public void A_client_that_does_not_read_is_closed_and_removed()
    {
        var cluster = new FakeCluster(new MembershipServiceOptions { Limits = new SessionLimits { MaxPendingBytes = 20_000 } });
        var raw = Connect(cluster);
        raw.Send(RawClient.Join(7)).Send(SignalMessage.JoinComplete);
        cluster.Run(0.1);
        raw.Stream.Peer!.IsStalled = true;
        var nodes = new[] { cluster.AddNode(1), cluster.AddNode(2) };
        for (int i = 0; i < 300 && cluster.Counters.SlowSessionsClosed == 0; i++)
        {
            nodes[i % 2].Subscribe($"topic {i}");
            raw.Send(KnownMessage.Heartbeat(1));
            cluster.Run(0.1);
            for (int beat = 0; beat < 20; beat++)
            {
                raw.Send(KnownMessage.Heartbeat(1));
            }
        }

        Assert.Equal(1, cluster.Counters.SlowSessionsClosed);
        cluster.Run(3);
        Assert.Equal(2, cluster.Service.MemberCount);
    }

    [Theory]
    [InlineData(2, "default", "protocol version 3; the node speaks 2")]
    [InlineData(1, "other", "cluster 'default'; the node belongs to 'other'")]
    public void A_join_that_does_not_fit_is_refused_with_the_reason(int version, string name, string reason)
    {
        var cluster = new FakeCluster();
        var raw = Connect(cluster);
        raw.Send(RawClient.Join(7, version, name)).Send(SignalMessage.JoinComplete);
        cluster.Run(0.1);
        Assert.Equal([ControlMessageKind.Refused], raw.Received);
        Assert.Equal(1, cluster.Counters.JoinsRefused);
        cluster.Run(2);
        Assert.True(raw.IsClosed);

        var node = FakeNode.Start(cluster.World, 8, FakeCluster.EndPoint, new MembershipServiceOptions { Cluster = "other" });
        cluster.Run(1);
        Assert.Contains("cluster 'default'; the node belongs to 'other'", node.Client.LastRefusal);
        Assert.NotEmpty(reason);
    }

    [Fact]
    public void A_claim_of_a_configuration_far_in_the_future_does_not_use_the_numbers_up()
    {
        var cluster = new FakeCluster();
        var raw = Connect(cluster);
        raw.Send(RawClient.Join(7, known: long.MaxValue)).Send(SignalMessage.JoinComplete);
        cluster.Run(0.1);
        Assert.Equal([ControlMessageKind.Refused], raw.Received);
    }

    [Fact]
    public void A_claim_of_more_than_this_service_has_made_is_refused()
    {
        var cluster = new FakeCluster();
        var node = cluster.AddNodes(1)[0];
        var own = RawClient.Join(7) with { Service = node.Changes[^1].Service };
        var made = Connect(cluster);
        made.Send(own with { Known = cluster.Service.Configuration }).Send(SignalMessage.JoinComplete);
        var ahead = Connect(cluster);
        ahead.Send(own with { Known = cluster.Service.Configuration + 1 }).Send(SignalMessage.JoinComplete);
        cluster.Run(0.1);
        Assert.Equal([ControlMessageKind.Refused], ahead.Received);
        Assert.Equal(ControlMessageKind.Welcome, made.Received[0]);
    }

    [Fact]
    public void A_claim_of_the_last_place_in_the_order_of_joining_leaves_room_behind_it()
    {
        var cluster = new FakeCluster();
        foreach (long order in new[] { long.MaxValue, long.MaxValue - 1, 1L << 48 })
        {
            Connect(cluster).Send(RawClient.Join((ulong)order, known: 1) with { JoinOrder = order }).Send(SignalMessage.JoinComplete);
        }

        cluster.Run(3);
        var nodes = new[] { cluster.AddNode(1), cluster.AddNode(2) };
        cluster.World.RunUntil(() => nodes.All(node => node.Nodes.Count == 5));
        long[] orders = [.. nodes[0].Nodes.Values.Select(info => info.JoinOrder)];
        Assert.Equal(5, orders.Distinct().Count());
        Assert.All(orders, order => Assert.InRange(order, 1, (1L << 48) + 5));
    }

    // Each claim of another line let no views be made for two seconds, so that its nodes come together.
    [Fact]
    public void Clients_that_come_from_ever_newer_lines_hold_views_up_for_a_tenth_of_the_time_at_most()
    {
        var cluster = new FakeCluster();
        var node = cluster.AddNodes(1)[0];
        int late = 0;
        for (int second = 0; second < 120; second++)
        {
            long known = (cluster.Service.Configuration >> 32) + 1L + second << 32;
            var join = RawClient.Join((ulong)second + 100, known: known) with { Service = (ulong)second + 5, KnownNodes = 1000 };
            Connect(cluster).Send(join).Send(SignalMessage.JoinComplete);
            cluster.Run(0.3);
            string topic = $"topic {second}";
            node.Subscribe(topic);
            cluster.Run(0.7);
            late += node.Has(topic) ? 0 : 1;
        }

        // Six seconds at once, and then a tenth.
        Assert.InRange(late, 3, 18);
        cluster.Run(3);
        Assert.All(Enumerable.Range(0, 120), second => Assert.True(node.Has($"topic {second}")));
    }

    [Fact]
    public void A_newer_clients_message_is_skipped()
    {
        var cluster = new FakeCluster();
        var raw = Connect(cluster);
        raw.Send(RawClient.Join(7)).Send(SignalMessage.JoinComplete).SendBytes(Frame(16, [1, 2, 3])).Send(KnownMessage.Heartbeat(0));
        cluster.Run(0.1);
        Assert.False(raw.IsClosed);
        Assert.Equal(1, cluster.Counters.UnknownMessages);
        Assert.Contains(ControlMessageKind.HeartbeatReply, raw.Received);
    }

    [Fact]
    public void Unknown_fields_are_skipped_in_every_wire_type()
    {
        var buffer = new ControlBuffer();
        buffer.UInt64(1, 42);
        buffer.UInt64(900, 7);
        buffer.Fixed64(901, 7);
        buffer.Text(902, "new");
        var confirm = OpenViewsMessage.Read([.. buffer.Written, 0xB5, 0x38, 1, 2, 3, 4], ControlMessageKind.Confirm);
        Assert.Equal(42, confirm.Configuration);
    }

    // A frame around any bytes: the envelope's one field holds them.
    private static byte[] Frame(int kind, byte[] body)
    {
        var buffer = new ControlBuffer();
        int frame = buffer.BeginFrame();
        buffer.Bytes(kind, body.Length == 0 ? [0] : body);
        buffer.EndFrame(frame);
        return buffer.Written.ToArray();
    }
}
