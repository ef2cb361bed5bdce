using System.Globalization;
using QuickSilver.Groups.Tools;
using QuickSilver.Simulation;

namespace QuickSilver.Groups.Tests.Tools.Dictionaries;

// A counter in a dictionary on machines that crash, pause, lose packets and are cut off: what succeeded is counted once, and in the end all
// members have the same.
public sealed class DictionaryFaultTests
{
    private const string Name = "dictionary";
    private const string Key = "count";
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(2);

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(5)]
    [InlineData(6)]
    public void Changes_that_succeeded_are_made_once_whatever_fails(ulong seed)
    {
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 5, Seed = seed });
        var open = new Dictionary<int, IReplicatedDictionary<string, string>>();
        int begun = 0;
        int succeeded = 0;
        int refused = 0;
        bool isOver = false;
        cluster.Start(async node =>
        {
            try
            {
                var options = new DictionaryOptions { Order = GroupOrder.Safe };
                var dictionary = await node.Node.OpenDictionaryAsync<string, string>(Name, options);
                open[node.Number] = dictionary;
                while (!isOver)
                {
                    await CountAsync(dictionary);
                    await Task.Delay(TimeSpan.FromMilliseconds(node.Random.Next(20)), node.Time);
                }
            }
            catch (Exception exception) when (exception is QuickSilverException or ObjectDisposedException)
            {
                open.Remove(node.Number);
            }
        });
        cluster.RunFaults();
        isOver = true;
        cluster.Heal();
        // What is on its way arrives.
        cluster.Run(TimeSpan.FromSeconds(40));
        cluster.Eventually("all have the same", () => open.Count == 5 && open.Values.Select(CountOf).Distinct().Count() == 1, Limit);
        int count = Assert.Single(open.Values.Select(CountOf).Distinct());

        // A call without an answer may have counted.
        Assert.InRange(count, succeeded, begun - refused);
        Assert.True(succeeded > 10, $"{succeeded} of {begun}");

        async Task CountAsync(IReplicatedDictionary<string, string> dictionary)
        {
            begun++;
            bool isCounted;
            try
            {
                isCounted = dictionary.TryGetValue(Key, out string? value, out long version)
                    ? await dictionary.TryUpdateAsync(Key, $"{Parse(value) + 1}", version)
                    : await dictionary.TryAddAsync(Key, "1");
            }
            catch (GroupOutcomeUnknownException)
            {
                return;
            }

            succeeded += isCounted ? 1 : 0;
            refused += isCounted ? 0 : 1;
        }
    }

    private static int CountOf(IReplicatedDictionary<string, string> dictionary) =>
        dictionary.TryGetValue(Key, out string? value) ? Parse(value) : 0;

    private static int Parse(string value) => int.Parse(value, CultureInfo.InvariantCulture);
}
