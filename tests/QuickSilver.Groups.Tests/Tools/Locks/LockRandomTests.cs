using QuickSilver.Groups.Tests.Tools.Models;
using QuickSilver.Groups.Tools;
using QuickSilver.Groups.Tools.Locks;

namespace QuickSilver.Groups.Tests.Tools.Locks;

// Random requests, releases, cancellations, views and malformed messages: one hold at a time that is not lost, and fencing numbers that
// rise.
public sealed class LockRandomTests
{
    [Fact]
    public void One_caller_at_a_time_holds_the_lock()
    {
        int grants = 0;
        for (int seed = 1; seed <= 100; seed++)
        {
            grants += Run(new Random(seed));
        }

        Assert.True(grants > 1_000, $"{grants} grants");
    }

    private static int Run(Random random)
    {
        var group = new ModelGroup<DistributedLock>(static (id, host) => new DistributedLock("lock", id, host));
        group.Join();
        var requests = new List<(Task<ILockHold> Task, CancellationTokenSource Source)>();
        var holds = new List<ILockHold>();
        FencingNumber highest = default;
        int grants = 0;
        for (int i = 0; i < 300; i++)
        {
            var member = group.Members[random.Next(group.Members.Count)];
            switch (random.Next(12))
            {
                case 0 when group.Members.Count < 4:
                    group.Join();
                    break;
                case 1 when group.Members.Count > 1:
                    group.Leave(member);
                    break;
                case 2 when group.Members.Count > 1:
                    group.RemoveAndReturn(member);
                    break;
                case 3 when requests.Count > 0:
                    requests[random.Next(requests.Count)].Source.Cancel();
                    break;
                case 4 or 5 or 6 when holds.Count > 0:
                    int place = random.Next(holds.Count);
                    Assert.True(holds[place].DisposeAsync().IsCompleted);
                    holds.RemoveAt(place);
                    break;
                case 7:
                    group.Send(new NodeId(1_000, 1), Garbage.Of(random, LockMachine.Release, []));
                    group.Send(member.Id, Garbage.Malformed(random));
                    break;
                case 8 when group.Waiting > 0:
                    group.DeliverOne();
                    break;
                case 9:
                    group.Deliver();
                    break;
                default:
                    var source = new CancellationTokenSource();
                    requests.Add((member.Tool.AcquireAsync(source.Token).AsTask(), source));
                    break;
            }

            foreach (var done in requests.Where(static one => one.Task.IsCompleted).ToList())
            {
                requests.Remove(done);
                if (done.Task.IsCompletedSuccessfully)
                {
                    var hold = done.Task.Now();
                    Assert.True(hold.FencingNumber > highest);
                    highest = hold.FencingNumber;
                    holds.Add(hold);
                    grants++;
                }
            }

            holds.RemoveAll(static hold => hold.Lost.IsCancellationRequested);
            Assert.True(holds.Count <= 1, $"{holds.Count} callers hold the lock.");
            Assert.Single(group.Members.Select(one => Convert.ToHexString(ModelGroup<DistributedLock>.StateOf(one))).Distinct());
        }

        // Nothing is left behind: when all callers have gone, the lock is free.
        requests.ForEach(static one => one.Source.Cancel());
        holds.ForEach(static hold => Assert.True(hold.DisposeAsync().IsCompleted));
        group.Deliver();
        Assert.All(group.Members, static member => Assert.Null(member.Tool.Holder));
        return grants;
    }
}
