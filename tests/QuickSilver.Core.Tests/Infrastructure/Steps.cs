using FsCheck;
using FsCheck.Fluent;

namespace QuickSilver.Core.Tests.Infrastructure;

// A property over a list of numbers that the test decodes as steps: such a list shrinks well, whatever the steps mean.
internal static class Steps
{
    public static void Hold(Action<int[]> scenario, int runs = 200, int longest = 200)
    {
        var numbers = Gen.Choose(0, int.MaxValue - 1).ArrayOf();
        var steps = Arb.From(numbers, ArbMap.Default.ArbFor<int[]>().Shrinker);
        Prop.ForAll(steps, scenario).Check(Config.QuickThrowOnFailure.WithMaxTest(runs).WithEndSize(longest));
    }

    public static void HoldForBytes(Action<byte[]> scenario, int runs = 500, int longest = 200)
    {
        var bytes = Gen.Choose(0, 255).Select(value => (byte)value).ArrayOf();
        var arbitrary = Arb.From(bytes, ArbMap.Default.ArbFor<byte[]>().Shrinker);
        Prop.ForAll(arbitrary, scenario).Check(Config.QuickThrowOnFailure.WithMaxTest(runs).WithEndSize(longest));
    }
}
