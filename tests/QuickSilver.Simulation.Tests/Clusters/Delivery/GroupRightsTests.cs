using QuickSilver.Groups;

namespace QuickSilver.Simulation.Tests.Clusters.Delivery;

// The rights to join a group and to send to it, where the service has rules. A member needs both, because any member may have to
// order. The rules are those of the topic with the name of the group.
public sealed class GroupRightsTests : IDisposable
{
    private const string Name = "orders";

    private readonly SimulatedCluster _cluster = new(new SimulationOptions
    {
        Nodes = 3,
        Seed = 3,
        NodeOptions = new QuickSilverOptions { Membership = { Hosted = { Rights = new DeskRights() } } },
    });

    public GroupRightsTests()
    {
        string[] identities = ["member", "reader", "sender"];
        foreach (var node in _cluster.Nodes)
        {
            node.Identity = identities[node.Number];
            node.Start();
        }

        _cluster.Eventually("joined", () => _cluster.Nodes.All(static node => node.IsJoined));
    }

    [Theory]
    [InlineData(1, "'reader' may not publish")]
    [InlineData(2, "'sender' may not subscribe")]
    public void A_node_that_lacks_a_right_does_not_join_and_no_member_has_a_view_with_it(int node, string reason)
    {
        var group = Open(0);
        var views = new List<int>();
        group.SubscribeInline((in GroupEvent<string> one) =>
        {
            if (one.IsView)
            {
                views.Add(one.View.Members.Count);
            }
        });

        var denied = Assert.Throws<TopicAccessDeniedException>(() => Open(node));
        _cluster.RunUntilCompleted(group.SendAsync("unhindered").AsTask());
        _cluster.Run(TimeSpan.FromSeconds(10));

        Assert.StartsWith(reason, denied.Message, StringComparison.Ordinal);
        Assert.Equal(Name, denied.Topic);
        Assert.DoesNotContain(views, static members => members > 1);
    }

    [Fact]
    public void A_node_that_may_publish_only_sends_to_the_group_without_joining_it()
    {
        var group = Open(0);
        var got = new List<string>();
        group.SubscribeInline((in GroupEvent<string> one) =>
        {
            if (one.TryGetMessage(out string? text))
            {
                got.Add(text);
            }
        });

        var sender = _cluster.RunUntilCompleted(_cluster.Nodes[2].Node.OpenGroupSenderAsync<string>(Name));
        _cluster.RunUntilCompleted(sender.SendAsync("from outside").AsTask());

        _cluster.Eventually("it comes", () => got is ["from outside"]);
        var denied = Assert.Throws<TopicAccessDeniedException>(
            () => _cluster.RunUntilCompleted(_cluster.Nodes[1].Node.OpenGroupSenderAsync<string>(Name)));
        Assert.Equal("reader", denied.Identity);
    }

    public void Dispose() => _cluster.Dispose();

    private IGroup<string> Open(int node) =>
        _cluster.RunUntilCompleted(_cluster.Nodes[node].Node.OpenGroupAsync<string>(Name));

    private sealed class DeskRights : ITopicRights
    {
        public bool MayPublish(string identity, string topic) => identity is "member" or "sender";

        public bool MaySubscribe(string identity, string topic) => identity is "member" or "reader";
    }
}
