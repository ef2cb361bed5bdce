using QuickSilver.Groups.Tools;
using QuickSilver.Simulation;

namespace QuickSilver.Groups.Tests.Tools.Locks;

// A lock on machines that crash, pause, lose packets and are cut off: no two holds have one number, and in the end all get the lock again,
// one at a time.
public sealed class LockFaultTests
{
    private const string Name = "lock";
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(2);

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(5)]
    [InlineData(6)]
    public void Holds_have_numbers_of_their_own_whatever_fails(ulong seed)
    {
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 5, Seed = seed });
        var seen = new HashSet<FencingNumber>();
        int[] grants = new int[5];
        int ends = 0;
        int inside = 0;
        bool isQuiet = false;
        cluster.Start(async node =>
        {
            while (true)
            {
                try
                {
                    await using var owned = await node.Node.OpenLockAsync(Name);
                    while (true)
                    {
                        await using var hold = await owned.AcquireAsync();
                        Assert.True(seen.Add(hold.FencingNumber), $"Two holds have the number {hold.FencingNumber}.");
                        bool counts = isQuiet;
                        inside += counts ? 1 : 0;
                        Assert.True(inside <= 1, "Two callers hold the lock.");
                        await Task.Delay(TimeSpan.FromMilliseconds(node.Random.Next(50)), node.Time);
                        inside -= counts ? 1 : 0;
                        grants[node.Number]++;
                    }
                }
                catch (Exception exception) when (exception is QuickSilverException or ObjectDisposedException)
                {
                    ends++;
                    await Task.Delay(TimeSpan.FromMilliseconds(200), node.Time);
                }
            }
        });
        cluster.RunFaults();
        cluster.Heal();
        cluster.Run(TimeSpan.FromSeconds(40));
        int[] before = [.. grants];
        isQuiet = true;
        cluster.Eventually("all get the lock", () => grants.Zip(before).All(static one => one.First >= one.Second + 10), Limit);
        Assert.True(seen.Count > 100, $"{seen.Count} holds, {ends} ends");
    }
}
