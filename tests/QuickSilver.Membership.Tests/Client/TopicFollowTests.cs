using System.Net;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Tests.Infrastructure;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Client;

// What a member that follows a prefix learns of the topics that others publish.
public sealed class TopicFollowTests
{
    private readonly FakeCluster _cluster = new();
    private readonly List<TopicNews> _news = [];
    private readonly List<(IPEndPoint Service, TimeSpan Limit)> _unanswered = [];

    private IEnumerable<string> Published => _news.SelectMany(static news => news.Published);

    private IEnumerable<string> Gone => _news.SelectMany(static news => news.Gone);

    [Fact]
    public void All_published_topics_are_reported_at_once_and_later_ones_as_they_come()
    {
        var nodes = _cluster.AddNodes(2);
        nodes[0].Open("p/a", TopicRole.Publish);
        nodes[0].Open("p/subscribed", TopicRole.Subscribe);
        nodes[0].Open("other", TopicRole.Publish);
        _cluster.Run(1);
        Follow(nodes[1]);
        _cluster.Run(1);
        Assert.Equal(["p/a"], Assert.Single(_news).Published);
        Assert.True(_news[0].IsWhole);
        nodes[0].Open("p/subscribed", TopicRole.Publish);
        nodes[0].Open("p/b", TopicRole.Publish);
        nodes[0].Open("q", TopicRole.Publish);
        _cluster.Run(1);
        Assert.Equal(["p/b", "p/subscribed"], _news[^1].Published.Order());
    }

    [Fact]
    public void Many_topics_come_in_several_messages()
    {
        var nodes = _cluster.AddNodes(2);
        string[] names = [.. Enumerable.Range(0, (2 * FollowedTopicsMessage.MostNames) + 1).Select(static one => $"p/{one}")];
        Array.ForEach(names, name => nodes[0].Open(name, TopicRole.Publish));
        _cluster.Run(2);
        Follow(nodes[1]);
        _cluster.Run(1);
        Assert.Equal(names.Order(), Published.Order());
        Assert.Equal([false, false, true], _news.Select(static news => news.IsWhole));
    }

    [Fact]
    public void The_limit_counts_what_is_beyond_and_others_follow_when_some_have_gone()
    {
        var nodes = _cluster.AddNodes(2);
        foreach (string name in (string[])["p/a", "p/b", "p/c"])
        {
            nodes[0].Open(name, TopicRole.Publish);
        }

        _cluster.Run(1);
        Follow(nodes[1], most: 2);
        _cluster.Run(1);
        Assert.Equal((2, 1), (Published.Count(), _news[^1].Beyond));
        string gone = Published.First();
        nodes[0].Client.Close(TopicId.Of(gone));
        _cluster.Run(1);
        Assert.Equal([gone], Gone);
        Assert.Equal((3, 0), (Published.Count(), _news[^1].Beyond));
    }

    [Fact]
    public void A_service_that_comes_back_reports_all_again_to_a_follower_which_hears_of_what_has_changed()
    {
        var nodes = _cluster.AddNodes(2);
        nodes[0].Open("p/a", TopicRole.Publish);
        nodes[0].Open("p/b", TopicRole.Publish);
        Follow(nodes[1]);
        _cluster.Run(1);
        _cluster.ServiceEnvironment.Crash();
        nodes[0].Client.Close(TopicId.Of("p/a"));
        nodes[0].Open("p/c", TopicRole.Publish);
        _cluster.StartService();
        _cluster.Run(10);
        string[] open = [.. Published.Distinct().Where(name => Published.Count(name.Equals) > Gone.Count(name.Equals))];
        Assert.Equal(["p/b", "p/c"], open.Order());
        Assert.Contains("p/a", Gone);
    }

    [Fact]
    public void A_node_that_follows_no_more_gets_no_reports()
    {
        var nodes = _cluster.AddNodes(2);
        var follow = Follow(nodes[1]);
        _cluster.Run(1);
        nodes[1].Client.Follows.Remove(follow);
        nodes[0].Open("p/a", TopicRole.Publish);
        _cluster.Run(1);
        Assert.Empty(Published);
    }

    [Fact]
    public void Inboxes_are_not_reported()
    {
        var nodes = _cluster.AddNodes(2);
        nodes[0].Open("p/inbox", TopicRole.Publish, Requests.Nested("string") with { IsPinned = true });
        nodes[0].Open("p/a", TopicRole.Publish);
        _cluster.Run(1);
        Follow(nodes[1]);
        _cluster.Run(1);
        Assert.Equal(["p/a"], Published);
    }

    [Fact]
    public void A_report_of_other_topics_or_too_many_is_not_accepted()
    {
        var follow = new TopicFollow("p/", 1, _news.Add);
        Assert.Contains("does not begin with 'p/'", follow.OnFollowedTopics(new FollowedTopicsMessage { Id = 1, Published = ["q"] }));
        Assert.Contains("more than 1 topics", follow.OnFollowedTopics(new FollowedTopicsMessage { Id = 1, Published = ["p/a", "p/b"] }));
        Assert.Empty(_news);
    }

    [Fact]
    public void A_service_that_knows_no_prefixes_is_waited_for_as_long_as_the_limit_says_and_not_while_it_is_away()
    {
        var node = _cluster.AddNodes(1)[0];
        _cluster.World.IsSkipped = IsFollow;
        Follow(node);
        _cluster.Run(4.9);
        Assert.Empty(_unanswered);
        _cluster.Run(0.2);
        Assert.Equal([(FakeCluster.EndPoint, TimeSpan.FromSeconds(5))], _unanswered);

        // Asked again by each connection. Time without a service does not count.
        Follow(node);
        _cluster.Run(3);
        _cluster.ServiceEnvironment.Crash();
        _cluster.Run(60);
        Assert.Single(_unanswered);
        _cluster.StartService();
        _cluster.World.RunUntil(() => node.Client.IsReachable);
        _cluster.Run(4.9);
        Assert.Single(_unanswered);
        _cluster.Run(0.2);
        Assert.Equal(3, _unanswered.Count);
        Assert.Empty(_news);
    }

    [Fact]
    public void A_service_that_answers_is_never_called_silent_and_neither_is_one_for_a_prefix_that_was_given_up()
    {
        var nodes = _cluster.AddNodes(2);
        Follow(nodes[0]);
        _cluster.Run(60);
        _cluster.World.IsSkipped = IsFollow;
        var follow = Follow(nodes[1]);
        _cluster.Run(1);
        nodes[1].Client.Follows.Remove(follow);
        _cluster.Run(60);
        Assert.Empty(_unanswered);
    }

    private static bool IsFollow(byte[] bytes) =>
        ControlFrame.TryCut(bytes, ControlFrame.MaxFromServiceBytes, out int kind, out _, out _) == FrameOutcome.Complete
        && kind == ControlMessageKind.FollowTopics;

    private TopicFollow Follow(FakeNode node, int most = 1000)
    {
        var follow = new TopicFollow("p/", most, _news.Add) { Unanswered = (service, limit) => _unanswered.Add((service, limit)) };
        Assert.True(node.Client.Follows.TryAdd(follow));
        return follow;
    }
}
