using QuickSilver.Groups.Tests.Tools.Models;
using QuickSilver.Groups.Tools.Dictionaries;

namespace QuickSilver.Groups.Tests.Tools.Dictionaries;

// Random changes, views and malformed messages against a plain dictionary: all members have the same, and what a member that joins reads
// is what was written.
public sealed class DictionaryRandomTests
{
    [Fact]
    public void All_members_have_what_a_plain_dictionary_has()
    {
        for (int seed = 1; seed <= 60; seed++)
        {
            Run(new Random(seed));
        }
    }

    private static void Run(Random random)
    {
        var group = new ModelGroup<ReplicatedDictionary<string, string>>(static (id, host) => new(
            "dictionary", id, host, (new TextCodec(), new TextCodec()), 1_000, GroupOrder.Safe));
        group.Join();
        var expected = new Dictionary<string, (string Value, long Version)>();
        long version = 0;
        for (int i = 0; i < 300; i++)
        {
            var member = group.Members[random.Next(group.Members.Count)];
            string key = $"{random.Next(12)}";
            switch (random.Next(9))
            {
                case 0 when group.Members.Count < 5:
                    group.Join();
                    break;
                case 1 when group.Members.Count > 1:
                    group.Leave(member);
                    break;
                case 2 when group.Members.Count > 1:
                    group.RemoveAndReturn(member);
                    group.Deliver();
                    break;
                case 3:
                    // Of a node that is no member, so a message that is valid by chance changes nothing either.
                    group.Send(new NodeId(1_000, 1), Garbage.Of(random, DictionaryMachine.Synchronize, []));
                    break;
                case 4:
                    bool added = Call(group, member.Tool.TryAddAsync(key, $"{i}"));
                    Assert.Equal(expected.TryAdd(key, ($"{i}", version + 1)), added);
                    version += added ? 1 : 0;
                    break;
                case 5:
                    long known = random.Next(2) == 0 ? version : expected.GetValueOrDefault(key).Version;
                    bool updated = Call(group, member.Tool.TryUpdateAsync(key, $"{i}", known));
                    Assert.Equal(expected.TryGetValue(key, out var before) && before.Version == known, updated);
                    if (updated)
                    {
                        expected[key] = ($"{i}", ++version);
                    }

                    break;
                case 6:
                    bool removed = Call(group, member.Tool.RemoveAsync(key));
                    Assert.Equal(expected.Remove(key), removed);
                    version += removed ? 1 : 0;
                    break;
                default:
                    Assert.Equal(++version, Call(group, member.Tool.SetAsync(key, $"{i}")));
                    expected[key] = ($"{i}", version);
                    break;
            }

            if (i % 10 == 0)
            {
                Check(group, expected);
            }
        }

        Check(group, expected);
    }

    private static void Check(
        ModelGroup<ReplicatedDictionary<string, string>> group, Dictionary<string, (string Value, long Version)> expected) =>
        Assert.All(group.Members, member => Assert.Equal(
            expected.OrderBy(static one => one.Value.Version).Select(static one => (one.Key, one.Value.Value, one.Value.Version)),
            member.Tool.GetSnapshot().Select(static one => (one.Key, one.Value, one.Version))));

    private static T Call<T>(ModelGroup<ReplicatedDictionary<string, string>> group, ValueTask<T> call)
    {
        group.Deliver();
        return call.AsTask().GetAwaiter().GetResult();
    }
}
