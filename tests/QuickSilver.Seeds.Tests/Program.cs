using System.Globalization;
using QuickSilver.Seeds.Tests.Infrastructure;
using QuickSilver.Simulation.Checkers.Records;
using Xunit.MicrosoftTestingPlatform;

namespace QuickSilver.Seeds.Tests;

// Campaign MixedFaults without a test host, for many seeds and for planted bugs:
//   dotnet run --project tests/QuickSilver.Seeds.Tests -c Release -- FIRST COUNT [first] [pinned]
// Campaign States, 10,000 keys unless said otherwise:
//   dotnet run --project tests/QuickSilver.Seeds.Tests -c Release -- FIRST COUNT states [KEYS]
// Campaign Takeover:
//   dotnet run --project tests/QuickSilver.Seeds.Tests -c Release -- FIRST COUNT takeover
// Campaign Stops:
//   dotnet run --project tests/QuickSilver.Seeds.Tests -c Release -- FIRST COUNT stops [first]
// Campaign Groups:
//   dotnet run --project tests/QuickSilver.Seeds.Tests -c Release -- FIRST COUNT groups [first]
// Campaign GroupStates:
//   dotnet run --project tests/QuickSilver.Seeds.Tests -c Release -- FIRST COUNT groupstates [first]
// Campaign GroupTools:
//   dotnet run --project tests/QuickSilver.Seeds.Tests -c Release -- FIRST COUNT grouptools [first]
// Campaign Logs:
//   dotnet run --project tests/QuickSilver.Seeds.Tests -c Release -- FIRST COUNT logs [first]
// Without a seed, or with options of the test runner, the tests run.
// A line for each seed that failed; with "first" it ends with the first of them, with "pinned" it runs campaign PinnedTopics. Exit code 1
// when any did.
internal static class Program
{
    public const string Found = "found by seed ";

    public static async Task<int> Main(string[] args) => args.Length == 0 || args[0].StartsWith('-')
        ? await TestPlatformTestFramework.RunAsync(args, SelfRegisteredExtensions.AddSelfRegisteredExtensions)
        : Run(args);

    private static int Run(string[] args)
    {
        var words = args.Skip(2).ToList();
        bool isOther = words is ["states" or "stops" or "logs" or "groups" or "groupstates" or "grouptools", ..];
        if (args.Length < 2 || (!isOther && words.Exists(static word => word is not ("first" or "pinned" or "takeover")))
            || !ulong.TryParse(args[0], CultureInfo.InvariantCulture, out ulong first)
            || !ulong.TryParse(args[1], CultureInfo.InvariantCulture, out ulong count))
        {
            Console.Error.WriteLine(
                "FIRST COUNT [first] [pinned]: which seeds to run, whether to end with the first that fails, whether topics are pinned.");
            return 2;
        }

        if (words is ["states", ..])
        {
            return StatesCampaign.RunMany(first, count, words.Count > 1 ? int.Parse(words[1], CultureInfo.InvariantCulture) : 10_000);
        }

        if (words is ["stops", ..])
        {
            return StopsCampaign.RunMany(first, count, endsWithFirst: words.Contains("first"));
        }

        if (words is ["groups", ..])
        {
            return GroupsCampaign.RunMany(first, count, endsWithFirst: words.Contains("first"));
        }

        if (words is ["groupstates", ..])
        {
            return GroupStatesCampaign.RunMany(first, count, endsWithFirst: words.Contains("first"));
        }

        if (words is ["grouptools", ..])
        {
            return GroupToolsCampaign.RunMany(first, count, endsWithFirst: words.Contains("first"));
        }

        if (words is ["logs", ..])
        {
            return LogsCampaign.RunMany(first, count, endsWithFirst: words.Contains("first"));
        }

        int failed = 0;
        ulong run = 0;
        Campaign campaign = words.Contains("takeover")
            ? new Takeover(output: null)
            : new MixedFaults(output: null, pinsTopics: words.Contains("pinned"));
        for (ulong seed = first; seed < first + count; seed++)
        {
            if (!HardshipTable.Draw(seed).HasFlag(HardshipTable.Only))
            {
                continue;
            }

            run++;
            try
            {
                campaign.Check(seed);
            }
            catch (InvariantException)
            {
                failed++;
                Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{Found}{seed}"));
                if (words.Contains("first"))
                {
                    break;
                }
            }
        }

        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{failed} of {run} seeds from {first} on failed"));
        return failed > 0 ? 1 : 0;
    }
}
