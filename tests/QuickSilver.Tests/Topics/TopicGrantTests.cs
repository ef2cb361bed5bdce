using QuickSilver.Membership.Contracts;
using QuickSilver.Topics.Grants;

namespace QuickSilver.Tests.Topics;

public sealed class TopicGrantTests
{
    private const TopicRole Both = TopicRole.Publish | TopicRole.Subscribe;

    private TopicGrant _grant;

    [Fact]
    public void A_request_is_granted_with_the_answer()
    {
        _grant.BeginAsk(Both);
        Assert.True(_grant.IsAsking);
        Assert.False(_grant.Covers(TopicRole.Publish));

        _grant.EndAsk(Both);
        Assert.False(_grant.IsAsking);
        Assert.True(_grant.Covers(Both));
    }

    [Fact]
    public void While_more_is_asked_for_what_both_grants_contain_stays()
    {
        Grant(Both);
        _grant.BeginAsk(TopicRole.Publish);

        Assert.True(_grant.Covers(TopicRole.Publish));
        Assert.False(_grant.Covers(TopicRole.Subscribe));
    }

    [Fact]
    public void Openings_are_asked_for_together_or_from_the_first_on_that_is_not_granted()
    {
        TopicRole[] openings = [TopicRole.Subscribe, TopicRole.Publish];
        Assert.Equal(Both, _grant.RoleToAskFor(TopicRole.None, openings));

        _grant.AskSingly();
        Assert.Equal(TopicRole.Subscribe, _grant.RoleToAskFor(TopicRole.None, openings));

        Grant(TopicRole.Subscribe);
        Assert.Equal(Both, _grant.RoleToAskFor(TopicRole.None, openings));
        Assert.Equal(TopicRole.Publish, _grant.RoleToAskFor(TopicRole.Publish, []));
    }

    [Fact]
    public void A_refusal_leaves_what_was_granted_before()
    {
        Grant(TopicRole.Publish);
        _grant.BeginAsk(Both);
        _grant.EndRefused();

        Assert.Equal(TopicRole.Publish, _grant.Role);
        Assert.False(_grant.IsAsking);
    }

    [Fact]
    public void A_receiver_is_in_the_view_if_the_service_was_asked_for_its_subscription()
    {
        _grant.OnReceiverOpened();
        Grant(TopicRole.Subscribe);
        Assert.False(_grant.IsInView);

        _grant.OnView(isSubscribed: true);
        Assert.True(_grant.IsInView);

        _grant.OnReceiverOpened();
        Assert.False(_grant.IsInView);
        Assert.True(_grant.IsStale(Both));
        Assert.False(_grant.IsStale(TopicRole.Publish));
    }

    [Fact]
    public void A_stale_subscription_ends_before_a_new_one_is_asked_for()
    {
        _grant.OnReceiverOpened();
        Grant(TopicRole.Subscribe);
        _grant.OnView(isSubscribed: true);
        _grant.OnReceiverOpened();

        _grant.EndStale();
        _grant.BeginAsk(TopicRole.Subscribe);
        Assert.False(_grant.IsInView);
        Assert.False(_grant.IsStale(TopicRole.Subscribe));

        _grant.EndAsk(TopicRole.Subscribe);
        _grant.OnView(isSubscribed: true);
        Assert.True(_grant.IsInView);
    }

    [Fact]
    public void A_narrower_grant_ends_the_subscription_of_the_last_view()
    {
        _grant.OnReceiverOpened();
        Grant(Both);
        _grant.OnView(isSubscribed: true);
        Grant(TopicRole.Publish);

        Assert.False(_grant.IsInView);
    }

    [Fact]
    public void A_topic_that_is_away_is_so_until_it_is_asked_for_again()
    {
        Grant(TopicRole.Publish);
        _grant.GoAway();
        Assert.True(_grant.IsAway);
        Assert.Equal(TopicRole.None, _grant.Role);

        _grant.BeginAsk(TopicRole.Publish);
        Assert.False(_grant.IsAway);
    }

    [Fact]
    public void Openings_are_asked_for_singly_until_none_is_left()
    {
        _grant.AskSingly();
        Assert.True(_grant.AsksSingly);

        _grant.OnNoOpenings();
        Assert.False(_grant.AsksSingly);
    }

    [Fact]
    public void Other_moves_throw_and_name_the_move_and_the_state()
    {
        Assert.Throws<InvalidOperationException>(() => _grant.EndRefused());
        Assert.Throws<InvalidOperationException>(() => _grant.EndAsk(TopicRole.Publish));

        _grant.BeginAsk(TopicRole.Publish);
        Assert.Throws<InvalidOperationException>(() => _grant.BeginAsk(Both));
        Assert.Throws<InvalidOperationException>(() => _grant.GoAway());
        var refused = Assert.Throws<InvalidOperationException>(() => _grant.EndStale());
        Assert.Contains("EndStale", refused.Message);
        Assert.Contains("asking", refused.Message);

        _grant.EndAsk(TopicRole.Publish);
        _grant.Close();
        Assert.Throws<InvalidOperationException>(() => _grant.Close());
        Assert.Throws<InvalidOperationException>(() => _grant.BeginAsk(Both));
    }

    private void Grant(TopicRole role)
    {
        _grant.BeginAsk(role);
        _grant.EndAsk(role);
    }
}
