using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Access;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Service.Access;

// T13: what is sent to one node alone, such as the contents of states, is not for others.
public sealed class InboxAccessTests
{
    private static readonly ContractDescription Letters = new()
    {
        TypeName = "bytes",
        Kind = "bytes",
        Guarantee = InboxName.Guarantee,
        IsPinned = true,
    };

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Only_its_node_subscribes_to_an_inbox_and_every_node_may_send_there(bool hasRules)
    {
        var cluster = new FakeCluster(new MembershipServiceOptions { Access = hasRules ? new Everything() : null });
        var owner = cluster.AddNode(1);
        owner.Environment.Identity = "desk";
        var other = cluster.AddNode(2);
        other.Environment.Identity = hasRules ? "desk" : null;
        string inbox = InboxName.Of(owner.Key.ToString());
        other.Open(inbox, TopicRole.Subscribe, Letters);
        other.Open(inbox, TopicRole.Publish | TopicRole.Subscribe, Letters);
        other.Open(InboxName.Of("everybody"), TopicRole.Subscribe, Letters);
        other.Open(inbox, TopicRole.Publish, Letters);
        owner.Open(inbox, TopicRole.Subscribe, Letters);
        cluster.Run(1);
        string who = hasRules ? "'desk'" : $"The node {other.Key}";
        string refusal = $"{who} may not subscribe to the topic '{inbox}', by {InboxName.Rule}.";
        // Those of one topic in their order; between topics there is none.
        string ofEverybody = $"{who} may not subscribe to the topic 'quicksilver/inbox/everybody', by {InboxName.Rule}.";
        Assert.Contains(ofEverybody, other.Outcomes);
        Assert.Equal([refusal, refusal, "granted"], other.Outcomes.Where(outcome => outcome != ofEverybody));
        Assert.Equal(["granted"], owner.Outcomes);
        Assert.Equal(3, cluster.Counters.RightsDenied);
        Assert.Equal(1, owner.View(inbox).Subscribers);
    }

    [Fact]
    public void An_inbox_is_opened_with_the_contract_of_inboxes_only_so_that_no_other_node_keeps_its_node_out()
    {
        var cluster = new FakeCluster();
        var owner = cluster.AddNode(1);
        var other = cluster.AddNode(2);
        string inbox = InboxName.Of(owner.Key.ToString());
        other.Open(inbox, TopicRole.Publish);
        other.Open(inbox, TopicRole.Publish, Letters with { TypeName = "other bytes" });
        owner.Open(inbox, TopicRole.Subscribe, Letters);
        cluster.Run(1);
        Assert.All(other.Outcomes, static outcome => Assert.Contains("is the inbox of a node", outcome, StringComparison.Ordinal));
        Assert.Equal(["granted"], owner.Outcomes);
    }

    private sealed class Everything : ITopicAccess
    {
        public string Source => "the test";

        public bool IsRestricted(string topic) => true;

        public string? EnclosureOf(string topic) => null;

        public bool MayPublish(string identity, string topic) => true;

        public bool MaySubscribe(string identity, string topic) => true;
    }
}
