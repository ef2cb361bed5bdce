using QuickSilver.Groups.Tests.Tools.Models;
using QuickSilver.Groups.Tools;
using QuickSilver.Groups.Tools.Barriers;

namespace QuickSilver.Groups.Tests.Tools.Barriers;

// A barrier whose messages and views a test decides.
public sealed class BarrierModelTests
{
    [Fact]
    public void A_round_completes_at_all_members_when_as_many_have_arrived()
    {
        var group = NewGroup(3);
        var members = Enumerable.Range(0, 4).Select(_ => group.Join()).ToArray();
        for (int round = 1; round <= 3; round++)
        {
            var first = Arrive(members[0]);
            var second = Arrive(members[round % 3 + 1]);
            group.Deliver();
            Assert.False(first.IsCompleted || second.IsCompleted);
            Assert.Equal(2, members[3].Tool.Arrived);
            var third = Arrive(members[(round + 1) % 3 + 1]);
            group.Deliver();
            Assert.Equal([round, round, round], new[] { first.Now(), second.Now(), third.Now() });
            Assert.Equal(0, members[3].Tool.Arrived);
        }
    }

    [Fact]
    public void A_member_that_leaves_takes_its_arrival_with_it()
    {
        var group = NewGroup(2);
        var (one, other, third) = (group.Join(), group.Join(), group.Join());
        var left = Arrive(one);
        group.Deliver();
        group.Leave(one);
        Assert.Throws<ObjectDisposedException>(() => left.Now());
        var first = Arrive(other);
        group.Deliver();
        Assert.False(first.IsCompleted);
        var second = Arrive(third);
        group.Deliver();
        Assert.Equal((1L, 1L), (first.Now(), second.Now()));
    }

    [Fact]
    public void A_member_that_comes_back_has_no_arrival()
    {
        var group = NewGroup(2);
        var (one, other) = (group.Join(), group.Join());
        var lost = Arrive(one);
        group.Deliver();
        group.RemoveAndReturn(one);
        Assert.Throws<GroupOutcomeUnknownException>(() => lost.Now());
        var first = Arrive(other);
        group.Deliver();
        Assert.False(first.IsCompleted);
        var again = Arrive(one);
        group.Deliver();
        Assert.Equal((1L, 1L), (first.Now(), again.Now()));
    }

    [Fact]
    public void A_call_that_is_cancelled_takes_its_arrival_back()
    {
        var group = NewGroup(2);
        var (one, other) = (group.Join(), group.Join());
        using var cancellation = new CancellationTokenSource();
        var cancelled = one.Tool.ArriveAsync(cancellation.Token).AsTask();
        group.Deliver();
        cancellation.Cancel();
        Assert.True(cancelled.IsCanceled);
        var first = Arrive(other);
        group.Deliver();
        Assert.False(first.IsCompleted);
        Assert.Equal(1, one.Tool.Arrived);
    }

    [Fact]
    public void A_member_arrives_once_in_a_round_and_with_the_number_of_the_others()
    {
        var group = new ModelGroup<GroupBarrier>(static (id, host) => new GroupBarrier("barrier", id.Id == 3 ? 4 : 3, id, host));
        var (one, other, third) = (group.Join(), group.Join(), group.Join());
        var first = Arrive(one);
        var again = Arrive(one);
        var different = Arrive(third);
        group.Deliver();
        Assert.False(first.IsCompleted);
        Assert.Throws<InvalidOperationException>(() => again.Now());
        var fault = Assert.Throws<InvalidOperationException>(() => different.Now());
        Assert.Contains("waits for 4 parties", fault.Message, StringComparison.Ordinal);
        Assert.Contains("that wait for 3", fault.Message, StringComparison.Ordinal);
        Assert.Equal(1, other.Tool.Arrived);
    }

    [Fact]
    public void A_member_that_joins_knows_the_round_and_the_arrivals()
    {
        var group = NewGroup(2);
        var (one, other) = (group.Join(), group.Join());
        var first = Arrive(one);
        _ = Arrive(other);
        group.Deliver();
        Assert.Equal(1, first.Now());
        first = Arrive(one);
        group.Deliver();
        var third = group.Join();
        Assert.Equal(1, third.Tool.Arrived);
        var last = Arrive(third);
        group.Deliver();
        Assert.Equal((2L, 2L), (first.Now(), last.Now()));
    }

    [Fact]
    public void Random_calls_and_views_leave_all_members_with_the_same()
    {
        for (int seed = 1; seed <= 60; seed++)
        {
            Run(new Random(seed));
        }
    }

    private static void Run(Random random)
    {
        var group = NewGroup(3);
        group.Join();
        var calls = new List<(ModelGroup<GroupBarrier>.Member Member, Task<long> Task, CancellationTokenSource Source)>();
        var rounds = new Dictionary<long, HashSet<NodeId>>();
        for (int i = 0; i < 200; i++)
        {
            var member = group.Members[random.Next(group.Members.Count)];
            switch (random.Next(9))
            {
                case 0 when group.Members.Count < 6:
                    group.Join();
                    break;
                case 1 when group.Members.Count > 3:
                    group.Leave(member);
                    break;
                case 2 when group.Members.Count > 1:
                    group.RemoveAndReturn(member);
                    break;
                case 3 when calls.Count > 0:
                    calls[random.Next(calls.Count)].Source.Cancel();
                    break;
                case 4:
                    group.Deliver();
                    break;
                case 5:
                    group.Send(member.Id, Garbage.Malformed(random));
                    break;
                default:
                    var source = new CancellationTokenSource();
                    calls.Add((member, member.Tool.ArriveAsync(source.Token).AsTask(), source));
                    break;
            }

            foreach (var call in calls.Where(static one => one.Task.IsCompletedSuccessfully).ToList())
            {
                calls.Remove(call);
                if (!rounds.TryGetValue(call.Task.Now(), out var round))
                {
                    round = rounds[call.Task.Now()] = [];
                }

                Assert.True(round.Add(call.Member.Id));
                Assert.True(round.Count <= 3);
            }

            calls.RemoveAll(static one => one.Task.IsCompleted);
            Assert.Single(group.Members.Select(one => Convert.ToHexString(ModelGroup<GroupBarrier>.StateOf(one))).Distinct());
        }

        Assert.NotEmpty(rounds);
    }

    private static Task<long> Arrive(ModelGroup<GroupBarrier>.Member member) => member.Tool.ArriveAsync().AsTask();

    private static ModelGroup<GroupBarrier> NewGroup(int parties) =>
        new((id, host) => new GroupBarrier("barrier", parties, id, host));
}
