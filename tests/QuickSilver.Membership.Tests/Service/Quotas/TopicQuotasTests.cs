using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Service.Quotas;

// F17, T11: what one machine or one certificate may have together, however many sessions it has.
public sealed class TopicQuotasTests
{
    [Fact]
    public void Nodes_with_one_certificate_have_so_many_topics_together_and_others_are_not_touched()
    {
        var cluster = Cluster(new SessionLimits { MaxTopicsPerSource = 3 });
        var first = Add(cluster, 1, "pricer");
        var second = Add(cluster, 2, "pricer");
        Open(first, 1, 2);
        cluster.Run(1);
        Open(second, 2, 3);
        cluster.Run(1);
        Assert.Equal(
            [
                "granted",
                "Topic 'topic 3': the nodes of certificate 'pricer' already have 3 open topics together, which is the limit.",
            ],
            second.Outcomes);
        var other = Add(cluster, 3, "reader");
        Open(other, 1, 2, 3);

        // What is open may be opened to do more, and what is closed leaves room.
        first.Open("topic 1", TopicRole.Publish | TopicRole.Subscribe);
        first.Close("topic 2");
        cluster.Run(1);
        Open(second, 4);
        cluster.Run(1);
        Assert.Equal(["granted", "granted", "granted"], other.Outcomes);
        Assert.Equal(["granted", "granted", "granted"], first.Outcomes);
        Assert.Equal("granted", second.Outcomes[^1]);
    }

    [Fact]
    public void A_node_that_has_left_leaves_room_for_others_with_its_certificate()
    {
        var cluster = Cluster(new SessionLimits { MaxTopicsPerSource = 2 });
        var first = Add(cluster, 1, "pricer");
        Open(first, 1, 2);
        cluster.Run(1);
        first.Environment.Crash();
        cluster.Run(30);
        Assert.Equal(0, cluster.Service.MemberCount);
        var second = Add(cluster, 2, "pricer");
        Open(second, 1, 2);
        cluster.Run(1);
        Assert.Equal(["granted", "granted"], second.Outcomes);
    }

    [Fact]
    public void Nodes_of_one_machine_have_so_many_topics_together_whatever_their_certificates()
    {
        var cluster = Cluster(new SessionLimits { MaxTopicsPerSource = 3 });
        var machine = cluster.World.Nodes[0];
        var raws = new List<RawClient>();
        for (ulong id = 1; id <= 3; id++)
        {
            machine.Identity = $"certificate {id}";
            var raw = new RawClient(machine);
            cluster.World.RunUntil(() => raw.IsConnected);
            raw.Send(RawClient.Join(id)).Send(SignalMessage.JoinComplete);
            cluster.Run(0.5);
            raw.Send(new SetTopicMessage { RequestId = 1, Topic = Requests.Topic($"a {id}", TopicRole.Publish) });
            raw.Send(new SetTopicMessage { RequestId = 2, Topic = Requests.Topic($"b {id}", TopicRole.Publish) });
            cluster.Run(0.5);
            raws.Add(raw);
        }

        Assert.All(raws, static raw => Assert.False(raw.IsClosed));
        Assert.Equal(3, cluster.Counters.TopicsRefused);
    }

    [Fact]
    public void Nodes_with_one_certificate_name_so_many_contracts_together()
    {
        var cluster = Cluster(new SessionLimits { MaxContractBytesPerSource = 2_000 });
        var nodes = new[] { Add(cluster, 1, "pricer"), Add(cluster, 2, "pricer") };
        for (int i = 0; i < 40; i++)
        {
            nodes[i % 2].Open($"topic {i}", TopicRole.Publish, Requests.Departure(new ContractField(1, $"field number {i}", "int32")));
        }

        cluster.Run(1);
        var outcomes = nodes.SelectMany(static node => node.Outcomes).ToList();
        Assert.InRange(outcomes.Count(static outcome => outcome == "granted"), 10, 39);
        Assert.Contains(
            outcomes,
            static outcome => outcome.EndsWith(
                "the nodes of certificate 'pricer' already registered 2,000 bytes of different contracts together, which is the limit."));

        var other = Add(cluster, 3, "reader");
        other.Open("topic of another", TopicRole.Publish, Requests.Departure(new ContractField(1, "another", "int32")));
        cluster.Run(1);
        Assert.Equal(["granted"], other.Outcomes);
    }

    // What is for display is only shown.
    [Fact]
    public void A_topic_is_open_without_the_names_of_its_enums_where_there_is_no_room_for_them()
    {
        var cluster = Cluster(new SessionLimits { MaxContractBytesPerSource = 2_000 });
        var node = Add(cluster, 1, "pricer");
        var plain = Requests.Departure(new ContractField(1, "kind", "int32"));
        var values = Enumerable.Range(0, 200).Select(static i => new ContractEnumValue($"kind {i}", i));
        var shown = plain with
        {
            Fields = [new ContractField(1, "kind", "int32") { Enum = 0 }],
            Enums = [new ContractEnum("Kind", false, [.. values])],
        };
        node.Open("one", TopicRole.Publish, shown);
        node.Open("two", TopicRole.Publish, shown);
        node.Open("three", TopicRole.Publish, plain);
        cluster.Run(1);
        Assert.Equal(["granted", "granted", "granted"], node.Outcomes);
    }

    private static FakeCluster Cluster(SessionLimits limits) => new(new MembershipServiceOptions { Limits = limits });

    private static void Open(FakeNode node, params ReadOnlySpan<int> topics)
    {
        foreach (int topic in topics)
        {
            node.Open($"topic {topic}", TopicRole.Publish);
        }
    }

    private static FakeNode Add(FakeCluster cluster, ulong id, string identity)
    {
        var node = cluster.AddNode(id);
        node.Environment.Identity = identity;
        return node;
    }
}
