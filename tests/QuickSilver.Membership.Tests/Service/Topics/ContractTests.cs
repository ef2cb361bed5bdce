using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Service.Topics;
using QuickSilver.Membership.Tests.Infrastructure;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Service.Topics;

public sealed class ContractTests
{
    private static readonly ContractDescription Departure = Requests.Departure(new(1, "Flight", "string"), new(3, "Delay", "int32"));

    private readonly ContractRegistry _registry = new();

    private static TopicRequest Topic(ContractDescription contract) => Requests.Topic("flights/ORD", TopicRole.Publish, contract);

    private string? Open(ContractDescription contract, ulong node = 1)
    {
        string? refusal = _registry.Check(Node(node), Topic(contract), replaces: false, out _);
        if (refusal is null)
        {
            _registry.Add(Node(node), Topic(contract));
        }

        return refusal;
    }

    private void Close(ulong node) => _registry.Remove(Node(node), Topic(Departure).TopicId);

    private static NodeKey Node(ulong id) => new(id, 1);

    [Fact]
    public void The_same_contract_is_granted()
    {
        Assert.Null(Open(Departure));
        Assert.Null(Open(Departure));
    }

    [Fact]
    public void A_field_of_another_type_is_named_with_both_types()
    {
        Open(Departure);
        Assert.Equal(
            "Topic 'flights/ORD' carries Departure(message) with field 3 'Delay' of type int32; this endpoint has type string.",
            Open(Requests.Departure(new(1, "Flight", "string"), new(3, "Delay", "string"))));
    }

    [Fact]
    public void Another_kind_is_named()
    {
        Open(Departure);
        Assert.Equal("Topic 'flights/ORD' carries Departure(message); this endpoint has Bytes(bytes).", Open(Requests.Bytes));
    }

    [Fact]
    public void Another_guarantee_is_named()
    {
        Open(Departure);
        Assert.Equal(
            "Topic 'flights/ORD' has guarantee Reliable; this endpoint asks for BestEffort.",
            Open(Departure with { Guarantee = "BestEffort" }));
    }

    [Fact]
    public void Another_security_is_named()
    {
        Open(Departure);
        Assert.Equal("Topic 'flights/ORD' has security None; this endpoint asks for Signed.", Open(Departure with { Security = "Signed" }));
    }

    [Fact]
    public void Fields_that_one_side_lacks_are_compatible_and_hold_for_a_third()
    {
        Open(Departure, node: 1);
        Assert.Null(Open(Requests.Departure(new(1, "Flight", "string"), new(4, "Gate", "string")), node: 2));
        Assert.Equal(
            "Topic 'flights/ORD' carries Departure(message) with field 4 'Gate' of type string; this endpoint has type int32.",
            Open(Requests.Departure(new(1, "Flight", "string"), new(4, "Gate", "int32")), node: 3));
    }

    [Fact]
    public void A_contract_that_no_node_has_open_any_more_holds_no_node()
    {
        Open(Departure, node: 1);
        Open(Requests.Departure(new(1, "Flight", "string"), new(4, "Gate", "string")), node: 2);
        Open(Requests.Departure(new(1, "Flight", "string"), new(5, "Row", "string")), node: 3);
        var gateIsANumber = Requests.Departure(new(1, "Flight", "string"), new(4, "Gate", "int32"));
        Assert.NotNull(Open(gateIsANumber, node: 4));
        Close(node: 2);
        Assert.Null(Open(gateIsANumber, node: 4));
        // The first contract's last endpoint: another becomes the first, and those that remain still count.
        Close(node: 1);
        Assert.Null(Open(Requests.Departure(new(1, "Flight", "string"), new(3, "Delay", "string"), new(5, "Row", "string")), node: 5));
        Assert.NotNull(Open(Requests.Departure(new(1, "Flight", "string"), new(5, "Row", "int32")), node: 6));
        Close(node: 3);
        Close(node: 4);
        Close(node: 5);
        Assert.Equal((0, 0), (_registry.Count, _registry.ContractCount));
    }

    [Fact]
    public void A_node_that_opens_a_topic_afresh_is_held_to_others_contracts_and_not_to_its_own()
    {
        Open(Departure, node: 1);
        Assert.Null(_registry.Check(Node(1), Topic(Requests.Bytes), replaces: true, out _));
        _registry.Update(Node(1), Topic(Requests.Bytes));
        Assert.NotNull(Open(Departure, node: 2));
        Assert.Null(Open(Requests.Bytes, node: 2));
        Assert.NotNull(_registry.Check(Node(1), Topic(Departure), replaces: true, out _));
        Assert.Equal((1, 1), (_registry.Count, _registry.ContractCount));
    }

    [Fact]
    public void The_number_of_versions_of_a_contract_is_limited()
    {
        for (int number = 2; number <= 33; number++)
        {
            Assert.Null(Open(Version(number), node: (ulong)number));
        }

        Assert.Equal(
            "Topic 'flights/ORD' is open with 32 versions of its contract, which is the limit. Close all endpoints of one version first.",
            Open(Version(34), node: 34));
        Assert.Null(Open(Version(7), node: 34));

        static ContractDescription Version(int number) =>
            Requests.Departure(new(1, "Flight", "string"), new(number, $"Field{number}", "string"));
    }

    [Fact]
    public void A_field_number_that_comes_twice_is_refused() =>
        Assert.Equal(
            "Topic 'flights/ORD': the contract of Departure has two fields numbered 1.",
            Open(Requests.Departure(new(1, "Flight", "string"), new(1, "Gate", "string"))));

    [Fact]
    public void The_last_endpoint_takes_the_contract_along()
    {
        Open(Departure, node: 1);
        Open(Departure, node: 2);
        Close(node: 1);
        Assert.NotNull(Open(Requests.Bytes));
        Close(node: 2);
        Assert.Null(Open(Requests.Bytes));
    }

    [Fact]
    public void A_name_whose_number_another_open_topic_has_is_refused()
    {
        Open(Departure);
        Assert.Equal(
            "Topic 'trains' has the same hash as the open topic 'flights/ORD'. Rename one of them.",
            _registry.Check(Node(2), Topic(Departure) with { Name = "trains" }, replaces: false, out _));
    }

    [Fact]
    public void Nested_contracts_open_at_several_nodes_and_one_that_differs_within_is_refused()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(3);
        nodes[0].Open("flights/ORD", contract: Requests.Nested("string"));
        nodes[1].Open("flights/ORD", contract: Requests.Nested("string"));
        cluster.Run(0.5);
        nodes[2].Open("flights/ORD", contract: Requests.Nested("int32"));
        cluster.Run(0.5);
        Assert.Equal(["granted"], nodes[0].Outcomes);
        Assert.Equal(["granted"], nodes[1].Outcomes);
        Assert.StartsWith(
            "Topic 'flights/ORD' carries Departure(message) with field 2.1 'Legs.From' of type string; this endpoint has type int32.",
            Assert.Single(nodes[2].Outcomes));
        Assert.Equal(2, nodes[0].View("flights/ORD").Subscribers);
    }

    [Fact]
    public void An_absurd_contract_is_refused_by_name_and_its_session_continues()
    {
        var cluster = new FakeCluster();
        var node = cluster.AddNodes(1)[0];
        node.Open("wide", contract: Requests.Departure([.. Enumerable.Range(1, 5000).Select(n => new ContractField(n, "F", "int32"))]));
        node.Open("named", contract: Requests.Departure(new ContractField(1, new string('x', 2000), "int32")));
        node.Open("trains", contract: Requests.Departure(new ContractField(1, "Flight", "string")));
        cluster.Run(0.5);
        Assert.Equal(3, node.Outcomes.Count);
        Assert.Equal(
            "Topic 'wide': the contract of Departure has more than 4096 fields, including the fields of nested messages."
            + " Split the payload type.",
            node.Outcomes[0]);
        Assert.StartsWith("Topic 'named': the contract has a name of 2000 bytes, 'xxx", node.Outcomes[1]);
        Assert.Equal("granted", node.Outcomes[2]);
        Assert.Equal(0, cluster.Counters.GarbageFrames);
    }

    [Fact]
    public void A_refusal_reaches_the_endpoint_and_leaves_what_was_open_alone()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(2);
        nodes[0].Open("flights/ORD", contract: Departure);
        cluster.Run(0.5);
        nodes[1].Open("flights/ORD", contract: Requests.Bytes);
        nodes[1].Open("trains", contract: Requests.Bytes);
        cluster.Run(0.5);
        Assert.Equal(
            [
                "Topic 'flights/ORD' carries Departure(message); this endpoint has Bytes(bytes)."
                    + $" Node {nodes[0].Key} at {nodes[0].EndPoint} has that version open.",
                "granted",
            ],
            nodes[1].Outcomes);
        Assert.False(nodes[1].Has("flights/ORD"));
        Assert.Equal(1, nodes[0].View("flights/ORD").Subscribers);
        Assert.Equal(1, cluster.Counters.TopicsRefused);

        nodes[0].Open("flights/ORD", TopicRole.Publish, Requests.Bytes);
        cluster.Run(0.5);
        Assert.True(nodes[0].View("flights/ORD").Subscribed);
    }

    [Fact]
    public void A_refusal_names_a_node_that_has_the_version_that_differs_and_counts_the_others()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(4);
        var gate = Requests.Departure(new(1, "Flight", "string"), new(4, "Gate", "string"));
        nodes[0].Open("flights", contract: Departure);
        cluster.Run(0.5);
        nodes[1].Open("flights", contract: gate);
        nodes[2].Open("flights", contract: gate);
        cluster.Run(0.5);
        nodes[3].Open("flights", contract: Requests.Departure(new(1, "Flight", "string"), new(4, "Gate", "int32")));
        cluster.Run(0.5);
        Assert.EndsWith(
            $"has type int32. Node {nodes[1].Key} at {nodes[1].EndPoint} has that version open, and so has 1 other node.",
            Assert.Single(nodes[3].Outcomes));
    }

    [Fact]
    public void A_refusal_names_a_node_by_its_name_if_it_has_one()
    {
        var cluster = new FakeCluster();
        var other = cluster.AddNodes(1)[0];
        var named = FakeNode.Start(cluster.World, id: 77, FakeCluster.EndPoint, name: "orders@host1");
        cluster.Run(1);
        named.Open("flights", contract: Departure);
        cluster.Run(0.5);
        other.Open("flights", contract: Requests.Bytes);
        cluster.Run(0.5);
        Assert.EndsWith($" Node orders@host1 ({named.Key}) at {named.EndPoint} has that version open.", Assert.Single(other.Outcomes));
    }

    [Fact]
    public void A_number_that_is_not_the_names_own_is_refused()
    {
        var cluster = new FakeCluster();
        var node = cluster.AddNodes(1)[0];
        string? refusal = null;
        node.Client.Open(Requests.Topic("A", TopicRole.Publish) with { TopicId = 5 }, outcome => refusal = outcome.Refusal);
        cluster.Run(0.5);
        Assert.Equal("Topic 'A' was requested with a number that does not match its name.", refusal);
    }
}
