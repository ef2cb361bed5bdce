using QuickSilver.Membership.Client;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests;

public sealed class ContractTests
{
    private static readonly ContractDescription Departure = Requests.Departure(new(1, "Flight", "string"), new(3, "Delay", "int32"));

    private readonly ContractRegistry _registry = new();

    private static TopicRequest Topic(ContractDescription contract) => Requests.Topic("flights/ORD", TopicRole.Publish, contract);

    private string? Open(ContractDescription contract)
    {
        string? refusal = _registry.Check(Topic(contract));
        if (refusal is null)
        {
            _registry.Add(Topic(contract));
        }

        return refusal;
    }

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
        Open(Departure);
        Assert.Null(Open(Requests.Departure(new(1, "Flight", "string"), new(4, "Gate", "string"))));
        Assert.Equal(
            "Topic 'flights/ORD' carries Departure(message) with field 4 'Gate' of type string; this endpoint has type int32.",
            Open(Requests.Departure(new ContractField(4, "Gate", "int32"))));
    }

    [Fact]
    public void A_field_number_that_comes_twice_is_refused() =>
        Assert.Equal(
            "Topic 'flights/ORD': the contract has two fields numbered 1.",
            Open(Requests.Departure(new(1, "Flight", "string"), new(1, "Gate", "string"))));

    [Fact]
    public void The_last_endpoint_takes_the_contract_along()
    {
        Open(Departure);
        Open(Departure);
        _registry.Remove(Topic(Departure).TopicId);
        Assert.NotNull(Open(Requests.Bytes));
        _registry.Remove(Topic(Departure).TopicId);
        Assert.Null(Open(Requests.Bytes));
    }

    [Fact]
    public void A_name_whose_number_another_open_topic_has_is_refused()
    {
        Open(Departure);
        Assert.Equal(
            "Topic 'trains' has the same number as topic 'flights/ORD', which is open: one of them needs another name.",
            _registry.Check(Topic(Departure) with { Name = "trains" }));
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
        Assert.Equal(["Topic 'flights/ORD' carries Departure(message); this endpoint has Bytes(bytes).", "granted"], nodes[1].Outcomes);
        Assert.False(nodes[1].Has("flights/ORD"));
        Assert.Equal(1, nodes[0].View("flights/ORD").Subscribers);
        Assert.Equal(1, cluster.Counters.TopicsRefused);

        nodes[0].Open("flights/ORD", TopicRole.Publish, Requests.Bytes);
        cluster.Run(0.5);
        Assert.True(nodes[0].View("flights/ORD").Subscribed);
    }

    [Fact]
    public void A_number_that_is_not_the_names_own_is_refused()
    {
        var cluster = new FakeCluster();
        var node = cluster.AddNodes(1)[0];
        string? refusal = null;
        node.Client.Open(Requests.Topic("A", TopicRole.Publish) with { TopicId = 5 }, outcome => refusal = outcome.Refusal);
        cluster.Run(0.5);
        Assert.Equal("Topic 'A' was asked for under a number that is not its own.", refusal);
    }
}
