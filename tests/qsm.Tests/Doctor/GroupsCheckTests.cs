using QuickSilver.Tool.Doctor.Checks;
using QuickSilver.Tool.Groups;

namespace QuickSilver.Tool.Tests.Doctor;

public sealed class GroupsCheckTests
{
    [Fact]
    public void Groups_that_a_divided_network_may_double_are_in_order() =>
        Assert.Empty(GroupsCheck.Of([Group("orders", "messages"), Group("book", "state"), Group("jobs", "work queue")]));

    [Fact]
    public void No_answer_is_no_finding_about_groups() =>
        Assert.Equal(FindingStatus.NotChecked, Assert.Single(GroupsCheck.Of(null)).Status);

    [Theory]
    [InlineData("lock")]
    [InlineData("leader")]
    public void A_group_that_may_have_one_holder_only_is_named(string keeps)
    {
        var finding = Assert.Single(GroupsCheck.Of([Group("orders", "messages"), Group("gate", keeps)]));
        Assert.Equal(FindingStatus.Warning, finding.Status);
        Assert.StartsWith(
            $"Nodes host the service, and 1 group of the cluster can have one holder only: \"gate\" ({keeps}). ",
            finding.Text,
            StringComparison.Ordinal);
        Assert.Single(finding.Remedies);
    }

    [Fact]
    public void Of_many_groups_some_are_named()
    {
        var finding = Assert.Single(GroupsCheck.Of([.. Enumerable.Range(1, 5).Select(static i => Group($"gate {i}", "lock"))]));
        Assert.Contains("5 groups of the cluster", finding.Text);
        Assert.Contains("\"gate 3\" (lock), ….", finding.Text);
        Assert.DoesNotContain("gate 4", finding.Text);
    }

    private static GroupListing Group(string name, string keeps) => new(name, "System.String", keeps, Members: 2);
}
