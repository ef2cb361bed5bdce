using System.Globalization;
using System.Reflection;

namespace QuickSilver.Seeds.Tests.Infrastructure;

// Which seeds a campaign runs: QS_SEEDS of them from QS_FIRST_SEED on. Where nothing is said, a few, and other ones for
// each commit: the first is taken from the commit that QS_COMMIT names, or else from the one that the assembly was built from.
internal static class SeedChoice
{
    // Drawn once, for where no commit is known.
    private const ulong FallbackFirst = 20_260;

    public static IEnumerable<ulong> Of(int fewest)
    {
        int count = Number("QS_SEEDS") is { } asked ? (int)asked : fewest;
        ulong first = Number("QS_FIRST_SEED") ?? NumberOfCommit();
        for (int i = 0; i < count; i++)
        {
            yield return first + (ulong)i;
        }
    }

    /// <summary>Some of the seeds from 1 on, and other ones for each commit. Where QS_SEEDS is set: all.</summary>
    /// <param name="count">How many seeds there are.</param>
    /// <param name="commits">In how many commits, by their numbers, each seed has its turn.</param>
    public static IEnumerable<ulong> InTurn(ulong count, ulong commits)
    {
        for (ulong seed = 1; seed <= count; seed++)
        {
            if (Number("QS_SEEDS") is not null || seed % commits == NumberOfCommit() % commits)
            {
                yield return seed;
            }
        }
    }

    /// <summary>The commit that is tested: the one that the run names, or that this assembly was built from, if either is known.</summary>
    public static string? Commit()
    {
        if (Environment.GetEnvironmentVariable("QS_COMMIT") is { Length: >= 8 } named)
        {
            return named;
        }

        string? version = typeof(SeedChoice).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion;
        int plus = version?.IndexOf('+', StringComparison.Ordinal) ?? -1;
        return plus < 0 || plus + 9 > version!.Length ? null : version[(plus + 1)..];
    }

    /// <summary>A number that differs from commit to commit.</summary>
    public static ulong NumberOfCommit() =>
        Commit() is { } commit && uint.TryParse(commit.AsSpan(0, 8), NumberStyles.HexNumber, CultureInfo.InvariantCulture, out uint number)
            ? number
            : FallbackFirst;

    private static ulong? Number(string variable) =>
        ulong.TryParse(Environment.GetEnvironmentVariable(variable), CultureInfo.InvariantCulture, out ulong number) ? number : null;
}
