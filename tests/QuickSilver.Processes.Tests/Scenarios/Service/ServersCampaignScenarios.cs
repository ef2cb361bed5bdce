using QuickSilver.Processes.Tests.Campaigns.Servers;
using QuickSilver.Processes.Tests.Harness;

namespace QuickSilver.Processes.Tests.Scenarios.Service;

// The campaign `servers` in short: each fault once but isolations, of which one of each server and each member of etcd takes a minute. What
// depends on the speed of the machine is not judged. F4, F8; I1, I7, I9.
public sealed class ServersCampaignScenarios
{
    [Fact]
    public void Servers_and_members_of_etcd_come_and_go_and_members_that_stay_get_everything()
    {
        EtcdServer.SkipIfMissing();
        using var output = new StringWriter();
        var plan = new ServersPlan
        {
            Kills = 1,
            EtcdKills = 1,
            Stop = TimeSpan.FromSeconds(6),
            Isolations = 0,
            Calm = TimeSpan.FromSeconds(1),
            Rate = 500,
            IsTimed = false,
        };
        int code = ServersCampaign.Run(plan, output);
        Assert.True(code == 0, output.ToString());
    }
}
