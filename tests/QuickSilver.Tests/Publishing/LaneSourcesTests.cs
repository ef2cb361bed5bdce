using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Publishing.Lane;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Publishing;

public sealed class LaneSourcesTests
{
    [Fact]
    public void An_endpoint_is_found_by_its_number_until_it_leaves_and_no_number_comes_again()
    {
        var steps = Gen.Choose(0, int.MaxValue - 1).ArrayOf();
        Prop.ForAll(Arb.From(steps, ArbMap.Default.ArbFor<int[]>().Shrinker), Holds)
            .Check(Config.QuickThrowOnFailure.WithMaxTest(200).WithEndSize(400));
    }

    private static void Holds(int[] steps)
    {
        var sources = new LaneSources();
        var model = new SortedDictionary<int, StubOrigin>();
        var given = new HashSet<int>();
        foreach (int step in steps)
        {
            if (step % 8 < 5)
            {
                var endpoint = new StubOrigin();
                int number = sources.Add(endpoint, null!);
                Assert.True(number != 0 && given.Add(number));
                model.Add(number, endpoint);
            }
            else if (given.Count > 0)
            {
                // From time to time all of a stretch, so that whole pages go.
                int first = (step / 8 % given.Count) + 1;
                for (int number = first; number <= Math.Min(first + (step % 3 * 50), given.Count); number++)
                {
                    Assert.Equal(model.Remove(number), sources.Remove(number));
                }
            }

            Assert.Equal(model.Count, sources.Count);
            foreach (int number in given)
            {
                Assert.Same(model.GetValueOrDefault(number), sources.Find(number).Origin);
            }
        }
    }
}
