using Xunit.MicrosoftTestingPlatform;

namespace QuickSilver.Processes.Tests.Campaigns;

// Faults over real processes for longer than a test takes, each campaign by its name:
//   dotnet run --project tests/QuickSilver.Processes.Tests -c Release -- NAME [OPTION=VALUE ...]
// Without a name, or with options of the test runner, the tests run.
// A campaign prints what it does and measures, and ends with exit code 1 if anything did not hold. Tests run short forms of the same.
internal static class Program
{
    private static readonly Dictionary<string, Func<CampaignArguments, int>> Campaigns = new(StringComparer.Ordinal)
    {
        ["calm"] = CalmCampaign.Run,
        ["kill"] = KillCampaign.Run,
        ["liar"] = Liar.LiarCampaign.Run,
        ["mtu"] = MtuCampaign.Run,
        ["outsider"] = Outsider.OutsiderCampaign.Run,
        ["rotation"] = RotationCampaign.Run,
        ["servers"] = static arguments => Servers.ServersCampaign.Run(Servers.ServersPlan.Read(arguments), Console.Out),
        ["soak"] = Soak.SoakCampaign.Run,
    };

    public static async Task<int> Main(string[] args)
    {
        if (args.Length == 0 || args[0].StartsWith('-'))
        {
            return await TestPlatformTestFramework.RunAsync(args, SelfRegisteredExtensions.AddSelfRegisteredExtensions);
        }

        if (Campaigns.TryGetValue(args[0], out var campaign))
        {
            return campaign(CampaignArguments.Read(args.AsSpan(1)));
        }

        await Console.Error.WriteLineAsync($"NAME [OPTION=VALUE ...], where NAME is one of: {string.Join(", ", Campaigns.Keys.Order())}.");
        return 2;
    }
}
