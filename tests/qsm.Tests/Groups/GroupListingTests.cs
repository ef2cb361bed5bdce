using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Views;
using QuickSilver.Tool.Catalog;
using QuickSilver.Tool.Groups;
using NodeNames = QuickSilver.Tool.Catalog.NodeNames;

namespace QuickSilver.Tool.Tests.Groups;

public sealed class GroupListingTests
{
    private static readonly NodeKey Member = new(1, 1);
    private static readonly NodeKey Sender = new(2, 1);

    [Theory]
    [InlineData("views=1", "messages")]
    [InlineData("state=1", "state")]
    [InlineData("state=1 tool=lock version=1", "lock")]
    [InlineData("*", "no members")]
    public void A_group_keeps_what_its_members_say(string parameters, string keeps) =>
        Assert.Equal(keeps, GroupListing.Of(Version(parameters, Member)).Keeps);

    [Fact]
    public void Nodes_that_only_send_are_no_members()
    {
        var group = GroupListing.Of(new TopicContracts("orders", [Version("*", Sender), Version("state=1", Member)]), new NodeNames());
        Assert.Equal("state", group.Keeps);
        Assert.Equal(Member.ToString(), Assert.Single(group.Nodes!).Node);

        var empty = GroupListing.Of(new TopicContracts("orders", [Version("*", Sender)]), new NodeNames());
        Assert.Equal("no members", empty.Keeps);
        Assert.Empty(empty.Nodes!);
    }

    private static ListedTopicMessage Version(string parameters, NodeKey holder) => new()
    {
        TopicId = 1,
        Name = "orders",
        Contract = new ContractDescription
        {
            TypeName = "bytes",
            Kind = "bytes",
            Guarantee = "Group",
            IsPinned = true,
            Parameters = ContractParameters.Of(parameters),
        },
        Holders = [holder],
    };
}
