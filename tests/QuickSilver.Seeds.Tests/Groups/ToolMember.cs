using System.Globalization;
using QuickSilver.Groups.Tools;
using QuickSilver.Simulation;

namespace QuickSilver.Seeds.Tests.Groups;

// One life of a node that uses the tools of groups: it counts in a dictionary, holds a lock, and adds and does jobs, again and again until
// it is over. What it does is in the ledger of the seed.
internal sealed class ToolMember(SimulatedNode node, ToolLedger ledger)
{
    private const string Counter = "count";

    private readonly int _life = node.Lives;
    private IReplicatedDictionary<string, string>? _dictionary;
    private ILeaderLease? _leader;

    public bool IsLive => node.IsJoined && node.Lives == _life;

    public bool IsLeader => IsLive && _leader is { IsLeader: true };

    public bool IsOpen { get; private set; }

    /// <summary>The number that this member has in its dictionary.</summary>
    public long Count => _dictionary!.TryGetValue(Counter, out string? value) ? Parse(value) : 0;

    public async Task Live(Func<bool> isOver)
    {
        try
        {
            _dictionary = await node.Node.OpenDictionaryAsync<string, string>("counters");
            var mutex = await node.Node.OpenLockAsync("lock");
            _leader = await node.Node.OpenLeaderAsync("leader");
            var jobs = await node.Node.OpenWorkQueueAsync<string>("jobs", WorkAsync, new WorkQueueOptions { MaxAttempts = 1000 });
            IsOpen = true;
            node.Post(() => Again(isOver, () => CountAsync()));
            node.Post(() => Again(isOver, () => HoldAsync(mutex)));
            node.Post(() => Again(isOver, () => AddAsync(jobs)));
        }
        catch (Exception exception) when (IsEnd(exception))
        {
        }
    }

    private async Task Again(Func<bool> isOver, Func<Task> step)
    {
        try
        {
            while (!isOver())
            {
                await step();
                await Delay(20);
            }
        }
        catch (Exception exception) when (IsEnd(exception))
        {
        }
    }

    // Compare and set: of two members that read the same, one counts.
    private async Task CountAsync()
    {
        ledger.CountsBegun++;
        bool isAdded;
        if (_dictionary!.TryGetValue(Counter, out string? value, out long version))
        {
            isAdded = await _dictionary.TryUpdateAsync(Counter, TextOf(Parse(value) + 1), version);
        }
        else
        {
            isAdded = await _dictionary.TryAddAsync(Counter, TextOf(1));
        }

        ledger.OnCounted(isAdded);
    }

    private async Task HoldAsync(IDistributedLock mutex)
    {
        var hold = await mutex.AcquireAsync();
        ledger.OnHold(this, hold);
        await Delay(10);
        ledger.OnRelease(this);
        await hold.DisposeAsync();
    }

    private async Task AddAsync(IWorkQueue<string> jobs) => ledger.Jobs.Add(await jobs.EnqueueAsync("job"));

    private async ValueTask WorkAsync(WorkItem<string> job, CancellationToken stop)
    {
        await Delay(5);
        ledger.Done.Add(job.Id);
    }

    private Task Delay(int milliseconds) => Task.Delay(node.Random.NextDouble() * TimeSpan.FromMilliseconds(milliseconds), node.Time);

    private static bool IsEnd(Exception exception) =>
        exception is NodeExpelledException or ObjectDisposedException or GroupOutcomeUnknownException;

    private static long Parse(string text) => long.Parse(text, CultureInfo.InvariantCulture);

    private static string TextOf(long value) => value.ToString(CultureInfo.InvariantCulture);
}
