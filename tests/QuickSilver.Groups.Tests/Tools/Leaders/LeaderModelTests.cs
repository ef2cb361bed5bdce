using QuickSilver.Groups.Tests.Tools.Models;
using QuickSilver.Groups.Tools.Leaders;

namespace QuickSilver.Groups.Tests.Tools.Leaders;

// Leadership in views that a test decides.
public sealed class LeaderModelTests
{
    [Fact]
    public void The_oldest_member_leads_and_the_next_follows_with_a_higher_term()
    {
        var group = NewGroup();
        var (one, other, third) = (group.Join(), group.Join(), group.Join());
        Assert.True(one.Tool.IsLeader);
        Assert.All([other, third], member => Assert.Equal(one.Id, member.Tool.Leader));
        Assert.All([other, third], member => Assert.Equal(one.Tool.Term, member.Tool.Term));
        Assert.All([other, third], static member => Assert.False(member.Tool.IsLeader));
        Assert.All([other, third], static member => Assert.True(member.Tool.Lost.IsCancellationRequested));
        var lost = one.Tool.Lost;
        long term = one.Tool.Term;
        var waiting = other.Tool.WaitForLeadershipAsync().AsTask();
        var last = third.Tool.WaitForLeadershipAsync().AsTask();
        Assert.False(lost.IsCancellationRequested || waiting.IsCompleted);
        group.Leave(one);

        Assert.True(lost.IsCancellationRequested);
        Assert.False(one.Tool.IsLeader);
        Assert.Null(one.Tool.Leader);
        Assert.True(waiting.Now().Term > term);
        Assert.Equal(waiting.Now(), other.Tool.WaitForLeadershipAsync().AsTask().Now());
        Assert.Equal((other.Id, waiting.Now().Term), (third.Tool.Leader, third.Tool.Term));
        Assert.False(last.IsCompleted);
        // Another member that leaves changes nothing.
        var fourth = group.Join();
        group.Leave(fourth);
        Assert.False(waiting.Now().Lost.IsCancellationRequested);
    }

    [Fact]
    public void A_leader_that_comes_back_leads_no_more()
    {
        var group = NewGroup();
        var (one, other) = (group.Join(), group.Join());
        var leadership = one.Tool.WaitForLeadershipAsync().AsTask().Now();
        group.RemoveAndReturn(one);
        Assert.True(leadership.Lost.IsCancellationRequested);
        Assert.False(one.Tool.IsLeader);
        Assert.True(other.Tool.IsLeader);
        Assert.True(other.Tool.Term > leadership.Term);
        Assert.Equal((other.Id, other.Tool.Term), (one.Tool.Leader, one.Tool.Term));
    }

    [Fact]
    public void The_only_member_that_comes_back_leads_in_another_term()
    {
        var group = NewGroup();
        var one = group.Join();
        var leadership = one.Tool.WaitForLeadershipAsync().AsTask().Now();
        group.RemoveAndReturn(one);
        Assert.True(leadership.Lost.IsCancellationRequested);
        Assert.True(one.Tool.IsLeader);
        Assert.True(one.Tool.Term > leadership.Term);
        Assert.False(one.Tool.Lost.IsCancellationRequested);
    }

    [Fact]
    public void A_leader_that_does_not_hear_the_service_does_not_lead_until_it_hears_it()
    {
        var group = NewGroup();
        var one = group.Join();
        var before = one.Tool.WaitForLeadershipAsync().AsTask().Now();
        one.Host.IsServiceHeard = false;
        Assert.True(before.Lost.IsCancellationRequested);
        Assert.False(one.Tool.IsLeader);
        Assert.Equal(one.Id, one.Tool.Leader);
        var waiting = one.Tool.WaitForLeadershipAsync().AsTask();
        Assert.False(waiting.IsCompleted);
        one.Host.IsServiceHeard = true;
        Assert.True(one.Tool.IsLeader);
        Assert.Equal(before.Term, waiting.Now().Term);
        Assert.False(waiting.Now().Lost.IsCancellationRequested);
    }

    [Fact]
    public void A_leader_whose_core_thread_stood_still_does_not_lead_until_it_has_run()
    {
        var one = NewGroup().Join();
        one.Host.IsLive = false;
        Assert.False(one.Tool.IsLeader);
        one.Host.IsLive = true;
        Assert.True(one.Tool.IsLeader);
    }

    [Fact]
    public void Calls_that_wait_end_with_the_group_or_their_token()
    {
        var group = NewGroup();
        group.Join();
        var other = group.Join();
        using var cancellation = new CancellationTokenSource();
        var cancelled = other.Tool.WaitForLeadershipAsync(cancellation.Token).AsTask();
        var waiting = other.Tool.WaitForLeadershipAsync().AsTask();
        cancellation.Cancel();
        Assert.True(cancelled.IsCanceled);
        Assert.False(waiting.IsCompleted);
        group.Leave(other, new NodeExpelledException("planned"));
        Assert.Throws<NodeExpelledException>(() => waiting.Now());
        Assert.Throws<NodeExpelledException>(() => other.Tool.WaitForLeadershipAsync().AsTask().Now());
        Assert.False(other.Host.HasListeners);
    }

    [Fact]
    public void Messages_of_others_change_nothing()
    {
        var group = NewGroup();
        var (one, other) = (group.Join(), group.Join());
        var random = new Random(1);
        for (int i = 0; i < 1_000; i++)
        {
            group.Send(other.Id, Garbage.Of(random, 3, []));
        }

        Assert.True(one.Tool.IsLeader);
        Assert.Equal(one.Id, group.Join().Tool.Leader);
    }

    private static ModelGroup<LeaderLease> NewGroup() => new(static (id, host) => new LeaderLease("leader", id, host));
}
