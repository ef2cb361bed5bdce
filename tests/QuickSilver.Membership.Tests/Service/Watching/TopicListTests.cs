using QuickSilver.Membership.Client.Watching;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Service.Watching;

// What an observer learns of topics, and endpoints that take any payload.
public sealed class TopicListTests
{
    private static readonly ContractDescription Departure = Requests.Nested("string");
    private static readonly ContractDescription Any =
        new() { TypeName = "any", Kind = ContractDescription.AnyKind, Guarantee = "Reliable" };

    private readonly FakeCluster _cluster = new();
    private ulong _asked;

    [Fact]
    public void All_topics_are_listed_with_their_nodes_and_without_fields()
    {
        var nodes = _cluster.AddNodes(3);
        nodes[0].Open("flights", contract: Departure);
        nodes[1].Open("flights", TopicRole.Subscribe, Departure);
        nodes[2].Open("raw", TopicRole.Publish);
        _cluster.Run(1);
        var answer = Ask();
        Assert.Equal((2, 2, false), (answer.List.Topics, answer.List.Listed, answer.List.HasMore));
        var flights = answer.Topics.Single(static topic => topic.Name == "flights");
        Assert.Equal((1, 2, 1, 2), (flights.Publishers, flights.Subscribers, flights.Versions, flights.Nodes));
        Assert.Equal(Departure with { Fields = [], Nested = [] }, flights.Contract);
        var raw = answer.Topics.Single(static topic => topic.Name == "raw");
        Assert.Equal((1, 0), (raw.Publishers, raw.Subscribers));
    }

    [Fact]
    public void Many_topics_come_in_pages_each_once()
    {
        var node = _cluster.AddNodes(1)[0];
        string[] names = [.. Enumerable.Range(0, (2 * TopicListMessage.MostTopics) + 1).Select(one => $"t{one}")];
        Array.ForEach(names, name => node.Open(name, TopicRole.Publish));
        _cluster.Run(2);
        var told = new List<string>();
        ulong after = 0;
        bool hasMore = true;
        while (hasMore)
        {
            var page = Ask(after: after);
            told.AddRange(page.Topics.Select(static topic => topic.Name));
            (after, hasMore) = (page.Topics[^1].TopicId, page.List.HasMore);
        }

        Assert.Equal(names.Order(), told.Order());
    }

    [Fact]
    public void A_topic_that_is_asked_for_is_reported_with_all_versions_of_its_contract()
    {
        var nodes = _cluster.AddNodes(2);
        var newer = Departure with { Fields = [.. Departure.Fields, new ContractField(3, "Gate", "string")] };
        nodes[0].Open("flights", contract: Departure);
        nodes[1].Open("flights", contract: newer);
        _cluster.Run(1);
        var told = Ask("flights").Topics;
        Assert.Equal([Departure, newer], told.Select(static topic => topic.Contract).OrderBy(static one => one.Fields.Length));
        Assert.All(told, static topic => Assert.Equal((1, 2), (topic.Nodes, topic.Versions)));
        Assert.Empty(Ask("other").Topics);
    }

    [Fact]
    public void Versions_that_differ_in_what_is_for_display_are_distinguished_with_the_nodes_that_have_each()
    {
        var nodes = _cluster.AddNodes(4);
        var newer = Departure with { Enums = [new("State", false, [new("Open", 1)])] };
        nodes[0].Open("flights", contract: Departure);
        nodes[1].Open("flights", TopicRole.Publish, newer);
        nodes[2].Open("flights", contract: Departure);
        nodes[3].Open("flights", contract: newer);
        _cluster.Run(1);
        Assert.All(nodes, static node => Assert.Equal(["granted"], node.Outcomes));
        var told = Ask("flights").Topics.ToDictionary(static topic => topic.Contract, static topic => topic.Holders);
        Assert.Equal([nodes[0].Key, nodes[2].Key], told[Departure].ToArray());
        Assert.Equal([nodes[1].Key, nodes[3].Key], told[newer].ToArray());
        Assert.Empty(Assert.Single(Ask().Topics).Holders);
    }

    [Fact]
    public void No_more_nodes_of_a_version_are_named_than_a_reader_takes()
    {
        var nodes = _cluster.AddNodes(ListedTopicMessage.MostHolders + 3);
        Array.ForEach(nodes, static node => node.Open("flights", TopicRole.Subscribe, Departure));
        _cluster.Run(1);
        var told = Assert.Single(Ask("flights").Topics);
        Assert.Equal(nodes.Length, told.Nodes);
        Assert.Equal(nodes.Select(static node => node.Key).Order().Take(ListedTopicMessage.MostHolders), told.Holders.ToArray());
    }

    [Fact]
    public void An_endpoint_that_takes_any_payload_subscribes_before_and_after_others()
    {
        var nodes = _cluster.AddNodes(3);
        nodes[0].Open("flights", TopicRole.Subscribe, Any);
        _cluster.Run(1);
        nodes[1].Open("flights", contract: Departure);
        _cluster.Run(1);
        nodes[2].Open("flights", TopicRole.Subscribe, Any);
        _cluster.Run(1);
        Assert.All(nodes, static node => Assert.Equal(["granted"], node.Outcomes));
        Assert.Equal(3, nodes[0].View("flights").Subscribers);
        Assert.Equal(Departure.Kind, Ask().Topics[0].Contract.Kind);

        nodes[2].Open("other", TopicRole.Publish, Any);
        nodes[0].Open("typed", contract: Departure);
        nodes[1].Open("typed", contract: Requests.Bytes);
        _cluster.Run(1);
        Assert.Equal("Topic 'other': an endpoint without a type can only subscribe.", nodes[2].Outcomes[^1]);
        Assert.StartsWith("Topic 'typed' carries Departure(message)", nodes[1].Outcomes[^1]);
    }

    [Fact]
    public void An_endpoint_that_agrees_with_all_parameters_publishes_and_does_not_decide_them()
    {
        var any = Requests.Bytes with { Parameters = ContractParameters.Any };
        var (one, other) = (With("state=1"), With("views=1"));
        var nodes = _cluster.AddNodes(3);
        nodes[0].Open("orders", TopicRole.Publish, any);
        _cluster.Run(1);
        nodes[1].Open("orders", contract: one);
        _cluster.Run(1);
        nodes[2].Open("orders", contract: other);
        nodes[2].Open("all", contract: any);
        _cluster.Run(1);

        Assert.Equal(["granted"], nodes[0].Outcomes);
        Assert.Equal(["granted"], nodes[1].Outcomes);
        Assert.Contains(nodes[2].Outcomes, static outcome => outcome.Contains("parameters state=1", StringComparison.Ordinal));
        Assert.Contains("Topic 'all': an endpoint that agrees with all parameters can only publish.", nodes[2].Outcomes);
        Assert.Equal(one.Parameters, Ask().Topics[0].Contract.Parameters);

        static ContractDescription With(string text) => Requests.Bytes with { Parameters = ContractParameters.Of(text) };
    }

    [Fact]
    public void The_last_contract_of_a_topic_is_reported_while_only_endpoints_that_take_any_payload_are_left()
    {
        var nodes = _cluster.AddNodes(2);
        nodes[1].Open("flights", contract: Departure);
        nodes[0].Open("flights", TopicRole.Subscribe, Any);
        _cluster.Run(1);
        nodes[1].Close("flights");
        _cluster.Run(1);
        Assert.Equal([(Any, 1), (Departure, 0)], Ask("flights").Topics.Select(static topic => (topic.Contract, topic.Nodes)));

        // Another type may come.
        nodes[1].Open("flights", contract: Requests.Bytes);
        _cluster.Run(1);
        Assert.Equal([(Any, 1), (Requests.Bytes, 1)], Ask("flights").Topics.Select(static topic => (topic.Contract, topic.Nodes)));

        nodes[1].Close("flights");
        nodes[0].Close("flights");
        _cluster.Run(1);
        Assert.Empty(Ask().Topics);
    }

    [Fact]
    public void An_observer_of_another_cluster_is_refused()
    {
        _cluster.AddNodes(1);
        var observer = new FakeObserver(_cluster.World, FakeCluster.EndPoint, "other").AskTopics();
        _cluster.Run(1);
        Assert.True(observer.IsRefused);
    }

    [Fact]
    public void A_request_that_is_no_request_closes_the_session_and_nothing_else()
    {
        var node = _cluster.AddNodes(1)[0];
        node.Open("flights", contract: Departure);
        var raw = new RawClient(_cluster);
        _cluster.World.RunUntil(() => raw.IsConnected);
        raw.Send(new ListTopicsMessage
        {
            Cluster = "default",
            ProtocolVersion = ControlFrame.ProtocolVersion,
            Name = new string('n', SetTopicMessage.MaxNameBytes + 1),
        });
        _cluster.Run(0.2);
        Assert.True(raw.IsClosed);
        Assert.Single(Ask().Topics);
    }

    private ClusterTopics Ask(string name = "", ulong after = 0)
    {
        var observer = new FakeObserver(_cluster.World, FakeCluster.EndPoint, seed: 1000 + _asked++).AskTopics(name, after);
        _cluster.Run(0.2);
        Assert.Null(observer.Ended);
        var answer = Assert.Single(observer.Topics);
        observer.Observer.Dispose();
        return answer;
    }
}
