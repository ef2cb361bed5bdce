using QuickSilver.Groups.Tests.Tools.Models;
using QuickSilver.Groups.Tools;
using QuickSilver.Groups.Tools.WorkQueues;

namespace QuickSilver.Groups.Tests.Tools.WorkQueues;

// A work queue whose messages and views a test decides, and whose members work until the test says that they are done.
public sealed class WorkQueueModelTests
{
    private readonly List<Job> _jobs = [];
    private readonly List<(NodeId Member, FailedItem<string> Item)> _failed = [];

    [Fact]
    public void Each_item_is_given_to_one_member_that_has_room_the_least_busy_first()
    {
        var group = NewGroup(concurrency: 2);
        var (one, other) = (group.Join(), group.Join());
        group.Deliver();
        for (int i = 1; i <= 5; i++)
        {
            Assert.Equal(i, Call(group, one.Tool.EnqueueAsync($"{i}")));
        }

        Assert.Equal(
            [(one.Id, "1"), (other.Id, "2"), (one.Id, "3"), (other.Id, "4")],
            _jobs.Select(static job => (job.Member, job.Item.Item)));
        Assert.Equal((1, 4), (other.Tool.Waiting, other.Tool.Running));
        _jobs[1].Done.SetResult();
        group.Deliver();
        Assert.Equal((other.Id, "5"), (_jobs[^1].Member, _jobs[^1].Item.Item));
        _jobs.ForEach(static job => job.Done.TrySetResult());
        group.Deliver();
        Assert.All(group.Members, static member => Assert.Equal((0, 0), (member.Tool.Waiting, member.Tool.Running)));
        Assert.All(_jobs, job => Assert.Equal((1, 5, one.Id), (job.Item.Attempt, job.Item.MaxAttempts, job.Item.Origin)));
    }

    [Fact]
    public void Items_wait_for_a_member_that_works()
    {
        var group = NewGroup(idle: 1);
        var idle = group.Join();
        Call(group, idle.Tool.EnqueueAsync("a"));
        Assert.Empty(_jobs);
        Assert.Equal(1, idle.Tool.Waiting);
        var worker = group.Join();
        group.Deliver();
        Assert.Equal(worker.Id, Assert.Single(_jobs).Member);
    }

    [Fact]
    public void An_item_whose_member_leaves_is_given_to_another_one()
    {
        var group = NewGroup();
        var (one, other) = (group.Join(), group.Join());
        group.Deliver();
        Call(group, other.Tool.EnqueueAsync("a"));
        Assert.Equal(one.Id, _jobs[0].Member);
        group.Leave(one);

        Assert.True(_jobs[0].Stop.IsCancellationRequested);
        Assert.Equal((other.Id, 1L, 2), (_jobs[1].Member, _jobs[1].Item.Id, _jobs[1].Item.Attempt));
        // Too late: it is another's.
        _jobs[0].Done.SetResult();
        group.Deliver();
        Assert.Equal(1, other.Tool.Running);
        _jobs[1].Done.SetResult();
        group.Deliver();
        Assert.Equal(0, other.Tool.Running);
    }

    [Fact]
    public void A_member_that_leaves_in_order_gives_its_items_back_and_that_is_no_attempt()
    {
        var group = NewGroup(concurrency: 2, maxAttempts: 1);
        var (one, other) = (group.Join(), group.Join());
        group.Deliver();
        foreach (string item in (string[])["a", "b", "c"])
        {
            Call(group, other.Tool.EnqueueAsync(item));
        }

        Assert.Equal([one.Id, other.Id, one.Id], _jobs.Select(static job => job.Member));
        _ = one.Tool.DisposeAsync();
        Assert.True(_jobs[0].Stop.IsCancellationRequested);
        Assert.Equal((other.Id, "a", 1), (_jobs[3].Member, _jobs[3].Item.Item, _jobs[3].Item.Attempt));
        Assert.Equal((4, 1), (_jobs.Count, other.Tool.Waiting));
        // What ends now counts for nothing.
        _jobs[0].Done.SetException(new IOException("stopped"));
        _jobs[1].Done.SetResult();
        group.Deliver();
        Assert.Equal((other.Id, "c", 1), (_jobs[4].Member, _jobs[4].Item.Item, _jobs[4].Item.Attempt));
        Assert.Empty(other.Tool.GetFailed());
    }

    [Fact]
    public void An_item_of_a_member_whose_leaving_does_not_come_has_had_an_attempt()
    {
        var group = NewGroup(maxAttempts: 1);
        var (one, other) = (group.Join(), group.Join());
        group.Deliver();
        Call(group, other.Tool.EnqueueAsync("a"));
        one.Delays = true;
        _ = one.Tool.DisposeAsync();
        group.Deliver();
        Assert.Equal(1, Assert.Single(other.Tool.GetFailed()).Attempts);
    }

    [Fact]
    public void An_item_that_fails_is_given_to_another_member_and_kept_after_its_last_attempt()
    {
        var group = NewGroup(maxAttempts: 3);
        var (one, other) = (group.Join(), group.Join());
        group.Deliver();
        Call(group, one.Tool.EnqueueAsync("a"));
        for (int attempt = 1; attempt <= 3; attempt++)
        {
            Assert.Equal(attempt, _jobs[^1].Item.Attempt);
            Assert.Equal(attempt % 2 == 1 ? one.Id : other.Id, _jobs[^1].Member);
            _jobs[^1].Done.SetException(new FormatException($"attempt {attempt}"));
            group.Deliver();
        }

        Assert.Equal(3, _jobs.Count);
        Assert.Equal((0, 0), (one.Tool.Waiting, one.Tool.Running));
        var failed = new FailedItem<string>(1, "a", 3, "System.FormatException: attempt 3", one.Id);
        Assert.Equal([(one.Id, failed), (other.Id, failed)], _failed);
        Assert.All([one, other, group.Join()], member => Assert.Equal([failed], member.Tool.GetFailed()));
    }

    [Fact]
    public void The_only_member_gets_an_item_again_on_which_it_failed()
    {
        var group = NewGroup();
        group.Join();
        group.Deliver();
        Call(group, group.Members[0].Tool.EnqueueAsync("a"));
        _jobs[0].Done.SetException(new FormatException());
        group.Deliver();
        Assert.Equal(2, _jobs[1].Item.Attempt);
    }

    [Fact]
    public void An_item_waits_for_a_busy_member_rather_than_for_the_one_that_failed_on_it()
    {
        var group = NewGroup();
        var (one, other) = (group.Join(), group.Join());
        group.Deliver();
        Call(group, one.Tool.EnqueueAsync("a"));
        Call(group, one.Tool.EnqueueAsync("b"));
        Call(group, one.Tool.EnqueueAsync("c"));
        _jobs[0].Done.SetException(new FormatException());
        group.Deliver();
        // The other item passes it.
        Assert.Equal((one.Id, "c"), (_jobs[2].Member, _jobs[2].Item.Item));
        _jobs[1].Done.SetResult();
        group.Deliver();
        Assert.Equal((other.Id, "a", 2), (_jobs[3].Member, _jobs[3].Item.Item, _jobs[3].Item.Attempt));
    }

    [Fact]
    public void A_member_that_comes_back_works_again_on_what_it_is_given_now()
    {
        var group = NewGroup();
        var (one, other) = (group.Join(), group.Join());
        group.Deliver();
        Call(group, one.Tool.EnqueueAsync("a"));
        Call(group, one.Tool.EnqueueAsync("b"));
        Assert.Equal(other.Id, _jobs[1].Member);
        var lost = other.Tool.EnqueueAsync("lost").AsTask();
        group.RemoveAndReturn(other);
        Assert.Throws<GroupOutcomeUnknownException>(() => lost.Now());
        Assert.True(_jobs[1].Stop.IsCancellationRequested);
        Assert.Equal((1, 1), (one.Tool.Waiting, one.Tool.Running));
        group.Deliver();
        Assert.Equal((other.Id, "b", 2), (_jobs[2].Member, _jobs[2].Item.Item, _jobs[2].Item.Attempt));
        _jobs[1].Done.SetResult();
        group.Deliver();
        Assert.Equal(2, one.Tool.Running);
    }

    [Fact]
    public void A_full_queue_refuses_items()
    {
        var group = NewGroup(idle: 9, capacity: 3);
        var one = group.Join();
        for (int i = 0; i < 3; i++)
        {
            Call(group, one.Tool.EnqueueAsync("x"));
        }

        var full = Assert.Throws<GroupFullException>(() => Call(group, one.Tool.EnqueueAsync("x")));
        Assert.Equal(3, full.Limit);
        Assert.Throws<ArgumentNullException>(() => one.Tool.EnqueueAsync(null!).AsTask().Now());
    }

    [Fact]
    public void Items_that_failed_give_way_to_others_when_there_are_too_many_bytes()
    {
        var group = NewGroup(maxAttempts: 1);
        var one = group.Join();
        group.Deliver();
        string large = new('x', (int)(WorkQueueMachine.MostBytes / 3));
        for (int i = 0; i < 2; i++)
        {
            Call(group, one.Tool.EnqueueAsync(large));
            _jobs[^1].Done.SetException(new FormatException());
            group.Deliver();
        }

        Assert.Equal(2, one.Tool.GetFailed().Count);
        Call(group, one.Tool.EnqueueAsync(large));
        Assert.Single(one.Tool.GetFailed());
        Call(group, one.Tool.EnqueueAsync(large));
        Assert.Empty(one.Tool.GetFailed());
        var full = Assert.Throws<GroupFullException>(() => Call(group, one.Tool.EnqueueAsync(large)));
        Assert.Equal(WorkQueueMachine.MostBytes, full.Limit);
        Assert.Equal(2, group.Join().Tool.Waiting + group.Members[0].Tool.Running);
    }

    [Fact]
    public void An_item_that_no_member_can_decode_fails()
    {
        var group = new ModelGroup<WorkQueue<string>>((id, host) => new WorkQueue<string>(
            "queue", id, host, (Work(id), new WorkLimits(1, 2, 10)), new TextCodec(unknown: "secret"), null));
        var (one, other) = (group.Join(), group.Join());
        group.Deliver();
        Call(group, one.Tool.EnqueueAsync("secret"));
        Assert.Empty(_jobs);
        var failed = Assert.Single(other.Tool.GetFailed());
        Assert.Equal((1L, null, 2, "System.FormatException: unknown"), (failed.Id, failed.Item, failed.Attempts, failed.Reason));
    }

    [Fact]
    public void Random_work_is_done_once_for_each_attempt_whatever_happens_to_members()
    {
        for (int seed = 1; seed <= 100; seed++)
        {
            _jobs.Clear();
            _failed.Clear();
            Run(new Random(seed));
        }
    }

    private void Run(Random random)
    {
        var group = NewGroup(concurrency: 2, maxAttempts: 4);
        group.Join();
        var added = new List<Task<long>>();
        for (int i = 0; i < 200; i++)
        {
            var member = group.Members[random.Next(group.Members.Count)];
            switch (random.Next(12))
            {
                case 0 when group.Members.Count < 5:
                    group.Join();
                    break;
                case 1 when group.Members.Count > 2:
                    group.Leave(member);
                    break;
                case 2 when group.Members.Count > 1:
                    group.RemoveAndReturn(member);
                    break;
                case 3 or 4 or 5 when _jobs.Exists(static job => !job.Done.Task.IsCompleted):
                    var open = _jobs.FindAll(static job => !job.Done.Task.IsCompleted);
                    var job = open[random.Next(open.Count)];
                    if (random.Next(3) == 0)
                    {
                        job.Done.SetException(new FormatException("planned"));
                    }
                    else
                    {
                        job.Done.SetResult();
                    }

                    break;
                case 6 or 7:
                    group.Deliver();
                    break;
                case 8 when group.Waiting > 0:
                    group.DeliverOne();
                    break;
                case 9:
                    group.Send(new NodeId(1_000, 1), Garbage.Of(random, WorkQueueMachine.Fail, []));
                    group.Send(member.Id, Garbage.Malformed(random));
                    break;
                default:
                    added.Add(member.Tool.EnqueueAsync($"{i}").AsTask());
                    break;
            }

            Assert.Single(group.Members.Select(static one => Convert.ToHexString(ModelGroup<WorkQueue<string>>.StateOf(one))).Distinct());
        }

        // All that was added is done or failed in the end.
        for (int left = 0; left < 1_000 && (group.Waiting > 0 || _jobs.Exists(static job => !job.Done.Task.IsCompleted)); left++)
        {
            group.Deliver();
            _jobs.FindAll(static job => !job.Done.Task.IsCompleted).ForEach(static job => job.Done.SetResult());
        }

        Assert.All(group.Members, static one => Assert.Equal((0, 0), (one.Tool.Waiting, one.Tool.Running)));
        Assert.All(_jobs.GroupBy(static job => (job.Item.Id, job.Item.Attempt)), static one => Assert.Single(one));
        foreach (var task in added.Where(static one => one.IsCompletedSuccessfully))
        {
            Assert.Contains(_jobs, one => one.Item.Id == task.Now());
        }
    }

    private static T Call<T>(ModelGroup<WorkQueue<string>> group, ValueTask<T> call)
    {
        group.Deliver();
        return call.AsTask().Now();
    }

    // The first members have no function if they are to be idle.
    private ModelGroup<WorkQueue<string>> NewGroup(int concurrency = 1, int maxAttempts = 5, int capacity = 100, ulong idle = 0) =>
        new((id, host) => new WorkQueue<string>(
            "queue",
            id,
            host,
            (id.Id <= idle ? null : Work(id), new WorkLimits(concurrency, maxAttempts, capacity)),
            new TextCodec(),
            item => _failed.Add((id, item))));

    private Func<WorkItem<string>, CancellationToken, ValueTask> Work(NodeId member) => (item, stop) =>
    {
        var job = new Job(member, item, stop, new TaskCompletionSource());
        _jobs.Add(job);
        return new ValueTask(job.Done.Task);
    };

    private sealed record Job(NodeId Member, WorkItem<string> Item, CancellationToken Stop, TaskCompletionSource Done);
}
