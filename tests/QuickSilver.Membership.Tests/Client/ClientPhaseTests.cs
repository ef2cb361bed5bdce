using QuickSilver.Membership.Client;

namespace QuickSilver.Membership.Tests.Client;

public sealed class ClientPhaseTests
{
    private ClientPhase _phase;

    [Fact]
    public void A_client_begins_as_a_member_without_a_service()
    {
        Assert.False(_phase.HasRegistered || _phase.IsWelcome || _phase.IsResyncing || _phase.IsLeaving || _phase.IsOver);
    }

    [Fact]
    public void A_registration_is_begun_and_ended_on_each_connection()
    {
        for (int connection = 0; connection < 2; connection++)
        {
            _phase.BeginRegistration();
            Assert.True(_phase.HasRegistered);
            Assert.False(_phase.IsWelcome);

            _phase.EndRegistration();
            _phase.EndRegistration();
            Assert.True(_phase.HasRegistered && _phase.IsWelcome);

            _phase.Disconnect();
            Assert.False(_phase.HasRegistered || _phase.IsWelcome);
        }
    }

    [Fact]
    public void A_resync_ends_with_the_snapshot_or_with_the_next_registration()
    {
        _phase.BeginRegistration();
        _phase.BeginResync();
        Assert.True(_phase.IsResyncing);
        _phase.EndResync();
        Assert.False(_phase.IsResyncing);

        _phase.BeginResync();
        _phase.Disconnect();
        _phase.BeginRegistration();
        Assert.False(_phase.IsResyncing);
    }

    [Fact]
    public void A_node_that_leaves_may_register_with_the_server_that_takes_over()
    {
        _phase.BeginLeaving();
        _phase.BeginLeaving();
        Assert.True(_phase.IsLeaving);
        Assert.False(_phase.IsOver);

        _phase.BeginRegistration();
        _phase.EndRegistration();
        Assert.True(_phase.IsLeaving && _phase.IsWelcome);

        _phase.End();
        Assert.True(_phase.IsOver);
        Assert.False(_phase.IsLeaving);
    }

    [Fact]
    public void A_node_that_gives_up_is_over_at_once_and_still_leaves()
    {
        _phase.BeginLeaving();
        _phase.GiveUp();
        Assert.True(_phase.IsOver && _phase.IsLeaving);

        _phase.End();
        _phase.GiveUp();
        Assert.True(_phase.IsOver);
        Assert.False(_phase.IsLeaving);
    }

    [Fact]
    public void A_welcome_or_a_resync_without_a_registration_throws()
    {
        Assert.Throws<InvalidOperationException>(() => _phase.EndRegistration());
        Assert.Throws<InvalidOperationException>(() => _phase.BeginResync());
    }

    [Fact]
    public void A_registration_while_welcome_throws()
    {
        _phase.BeginRegistration();
        _phase.EndRegistration();

        var thrown = Assert.Throws<InvalidOperationException>(() => _phase.BeginRegistration());

        Assert.Contains("Welcome, Member", thrown.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_second_resync_before_the_snapshot_throws()
    {
        _phase.BeginRegistration();
        _phase.BeginResync();

        Assert.Throws<InvalidOperationException>(() => _phase.BeginResync());
    }

    [Fact]
    public void A_member_that_does_not_leave_cannot_give_up() => Assert.Throws<InvalidOperationException>(() => _phase.GiveUp());

    [Fact]
    public void A_node_that_is_over_neither_leaves_nor_registers()
    {
        _phase.End();

        Assert.Throws<InvalidOperationException>(() => _phase.BeginLeaving());
        Assert.Throws<InvalidOperationException>(() => _phase.BeginRegistration());
    }
}
