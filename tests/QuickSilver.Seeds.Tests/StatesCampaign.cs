using System.Globalization;
using QuickSilver.Seeds.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Seeds.Tests;

// Campaign "States": five nodes set and remove keys of a state, two of them fail at random times and one of those comes back. One node
// joins in the middle, and another one joins and leaves again and again. Some links lose datagrams, others deliver them late and out of
// order. A joiner has each key that was set before it learned that it is complete, and in the end all have the same content, with all that
// a node that stayed has set: I16.
//
// Many seeds, and one again:
//   QS_SEEDS=200 dotnet test --project tests/QuickSilver.Seeds.Tests -c Release --filter-class "*.StatesCampaign"
//   dotnet run --project tests/QuickSilver.Seeds.Tests -c Release -- FIRST COUNT states KEYS
public sealed class StatesCampaign(ITestOutputHelper? output)
{
    private const int FewestSeeds = 6;
    private const int FewestKeys = 500;
    private const int Publishers = 5;
    private const int Nodes = 7;
    private const string Name = "state";
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LongestWay = TimeSpan.FromSeconds(5);

    public static TheoryData<ulong> Chosen => [.. SeedChoice.Of(FewestSeeds)];

    [Theory]
    [MemberData(nameof(Chosen))]
    public void A_joiner_has_the_snapshot_and_exactly_what_follows(ulong seed) => output?.WriteLine(new Run(seed, FewestKeys).Check());

    [Theory]
    [MemberData(nameof(Chosen))]
    public void One_seed_is_one_run(ulong seed) => Assert.Equal(new Run(seed, keys: 100).Check(), new Run(seed, keys: 100).Check());

    /// <summary>Prints the number of failed seeds, and each of them.</summary>
    public static int RunMany(ulong first, ulong count, int keys)
    {
        int failed = 0;
        for (ulong seed = first; seed < first + count; seed++)
        {
            try
            {
                new Run(seed, keys).Check();
            }
            catch (Exception exception) when (exception is SimulationException or Xunit.Sdk.XunitException)
            {
                failed++;
                Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{Program.Found}{seed}: {exception.Message}"));
            }

            if ((seed - first + 1) % 25 == 0)
            {
                Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{seed - first + 1} of {count}, {failed} failed"));
            }
        }

        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{failed} of {count} seeds from {first} on failed ({keys} keys)"));
        return failed > 0 ? 1 : 0;
    }

    private sealed class Run(ulong seed, int keys)
    {
        private readonly IState<string, string>?[] _states = new IState<string, string>?[Nodes];
        // The life of each node's process that the state belongs to.
        private readonly int[] _lives = new int[Nodes];
        // What each key was last set to by nodes that stay, by the order of the run.
        private readonly Dictionary<string, HashSet<string>> _set = [];
        private readonly HashSet<int> _failed = [];
        private bool _isOver;
        private long _changes;
        private int _joins;

        public string Check()
        {
            var link = (seed % 3) switch
            {
                0 => new LinkModel { Loss = 0.2 },
                1 => new LinkModel { Jitter = TimeSpan.FromMilliseconds(5), Reorder = 0.05 },
                _ => new LinkModel(),
            };
            using var cluster = new SimulatedCluster(new SimulationOptions
            {
                Nodes = Nodes,
                Seed = seed,
                Link = link,
                // The seeds that are kept were found without.
                TopicDelay = TimeSpan.Zero,
                Membership = seed % 2 == 0 ? MembershipPlacement.Dedicated : MembershipPlacement.Embedded,
            });
            var chance = cluster.Random;
            cluster.Start();
            cluster.RunUntilCompleted(
                async () =>
                {
                    for (int i = 0; i < Publishers; i++)
                    {
                        Keep(cluster.Nodes[i], await cluster.Nodes[i].Node.OpenStateAsync<string, string>(Name));
                    }
                },
                Second * 120);
            for (int i = 0; i < Publishers; i++)
            {
                int number = i;
                cluster.Nodes[i].Post(() => PublishAsync(cluster.Nodes[number], _states[number]!, number));
            }

            var joining = Second / 1000 * chance.Next(100, 1500);
            cluster.After(joining, () => Join(cluster, Nodes - 2));
            cluster.Nodes[Nodes - 1].Post(() => JoinAgainAndAgainAsync(cluster.Nodes[Nodes - 1]));
            int[] victims = [chance.Next(Publishers), chance.Next(Publishers)];
            foreach (int victim in victims)
            {
                bool isSilent = chance.Next(2) == 0;
                cluster.After(joining + (Second / 1000 * chance.Next(-100, 800)), () => Fail(cluster.Nodes[victim], isSilent));
            }

            cluster.Run(Second * 4);
            _isOver = true;
            cluster.Run(Second / 2);
            int back = victims[0];
            cluster.Nodes[back].Start();
            cluster.Eventually("the node that failed has joined", () => cluster.Nodes[back].IsJoined, Second * 60);
            cluster.After(TimeSpan.Zero, () => Join(cluster, back));
            int[] joiners = [Nodes - 2, Nodes - 1, back];
            cluster.Eventually(
                "all joiners are open", () => joiners.All(one => _states[one] is not null || !IsMember(cluster.Nodes[one])), Second * 120);
            cluster.Eventually("all are complete", () => Open(cluster).All(static state => state.IsComplete), Second * 120);
            // With many losses, much is on its way when the last change is made.
            for (int i = 0; i < 120 && !AreAlike(cluster); i++)
            {
                cluster.Run(Second);
            }

            Judge(cluster);
            return string.Create(
                CultureInfo.InvariantCulture,
                $"seed {seed}: {_changes} changes, {Open(cluster).First().Count} keys, {_joins} joins, {_failed.Count} failed, "
                + $"{cluster.TraceHash:x}");
        }

        private IEnumerable<IState<string, string>> Open(SimulatedCluster cluster) =>
            cluster.Nodes.Where(node => IsMember(node) && _states[node.Number] is not null).Select(node => _states[node.Number]!);

        private void Keep(SimulatedNode node, IState<string, string> state)
        {
            _states[node.Number] = state;
            _lives[node.Number] = node.Lives;
        }

        // With many losses, the membership service may remove a node that has not failed, which then starts again without the state.
        private bool IsMember(SimulatedNode node) =>
            node.IsJoined && node.Lives == _lives[node.Number] && node.Node.Status.State == NodeState.Running;

        private bool AreAlike(SimulatedCluster cluster)
        {
            var contents = Open(cluster).Select(static state => state.IsComplete ? state.GetSnapshot() : []).ToList();
            return contents.TrueForAll(content => content.Count > 0 && content.SequenceEqual(contents[0]));
        }

        private void Fail(SimulatedNode node, bool isSilent)
        {
            if (node.IsUp)
            {
                _failed.Add(node.Number);
                _states[node.Number] = null;
                node.Crash(isSilent);
            }
        }

        private void Join(SimulatedCluster cluster, int number) => cluster.Nodes[number].Post(async () =>
        {
            _lives[number] = cluster.Nodes[number].Lives;
            Keep(cluster.Nodes[number], await cluster.Nodes[number].Node.OpenStateAsync<string, string>(Name));
        });

        // Opens the state, looks whether it has what was set before, and closes it.
        private async Task JoinAgainAndAgainAsync(SimulatedNode node)
        {
            _lives[node.Number] = node.Lives;
            while (true)
            {
                var state = await node.Node.OpenStateAsync<string, string>(Name);
                var before = _set.Keys.ToList();
                if (_isOver)
                {
                    Keep(node, state);
                    return;
                }

                // What was set just before is still on its way, and where links lose datagrams it is sent more than once.
                await Task.Delay(TimeSpan.FromMilliseconds(300), node.Time);
                var missing = Missing();
                for (var waited = TimeSpan.Zero; missing.Count > 0 && waited < LongestWay; waited += Second / 10)
                {
                    await Task.Delay(Second / 10, node.Time);
                    missing = Missing();
                }

                Assert.True(missing.Count == 0, $"a joiner lacks {missing.Count} of {before.Count} keys: {missing.FirstOrDefault()}");
                await state.DisposeAsync();
                _joins++;

                List<string> Missing() =>
                    [.. before.Where(key => !_failed.Contains(key[4] - '0') && !state.TryGet(key, out _))];
            }
        }

        // Half of the keys are this node's own, and each is set once; the others are everybody's.
        private async Task PublishAsync(SimulatedNode node, IState<string, string> state, int number)
        {
            int own = keys / 2 / Publishers;
            for (int i = 0; !_isOver; i++)
            {
                string key = i % 2 == 0 && i / 2 < own
                    ? string.Create(CultureInfo.InvariantCulture, $"own {number} {i / 2}")
                    : string.Create(CultureInfo.InvariantCulture, $"all {node.Random.Next(keys / 2)}");
                _changes++;
                if (i % 20 == 19)
                {
                    await state.RemoveAsync(key);
                    continue;
                }

                string value = string.Create(CultureInfo.InvariantCulture, $"{number}:{i}");
                await state.SetAsync(key, value);
                if (key[0] == 'o')
                {
                    if (!_set.TryGetValue(key, out var values))
                    {
                        _set.Add(key, values = []);
                    }

                    values.Add(value);
                }

                if (i % 16 == 15)
                {
                    // So that all keys are set within about 2 s.
                    await Task.Delay(TimeSpan.FromMilliseconds(Math.Max(1, 32 * 2000 / keys)), node.Time);
                }
            }
        }

        private void Judge(SimulatedCluster cluster)
        {
            var states = Open(cluster).ToList();
            var first = Content(states[0]);
            foreach (var node in cluster.Nodes.Where(node => !IsMember(node)))
            {
                _failed.Add(node.Number);
            }

            Assert.True(states.Count >= Nodes - 3, $"only {states.Count} are open");
            foreach (var state in states)
            {
                var content = Content(state);
                var different = first.Keys.Union(content.Keys).Where(key => first.GetValueOrDefault(key) != content.GetValueOrDefault(key))
                    .Order(StringComparer.Ordinal).ToList();
                Assert.True(
                    different.Count == 0,
                    $"{different.Count} keys differ: "
                    + string.Join(", ", different.Take(5).Select(
                        key => $"{key}: {first.GetValueOrDefault(key)} {content.GetValueOrDefault(key)}")));
            }

            var lost = _set.Where(one => !_failed.Contains(one.Key[4] - '0') && !one.Value.Contains(first.GetValueOrDefault(one.Key, "")))
                .Select(static one => one.Key).Order(StringComparer.Ordinal).ToList();
            Assert.True(lost.Count == 0, $"{lost.Count} keys that a node set are lost: {string.Join(", ", lost.Take(5))}");
        }

        private static Dictionary<string, string> Content(IState<string, string> state) =>
            state.GetSnapshot().ToDictionary(static one => one.Key, static one => one.Value);
    }
}
