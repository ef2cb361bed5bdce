using QuickSilver.Processes.Tests.Campaigns;
using QuickSilver.Processes.Tests.Campaigns.Liar;
using QuickSilver.Processes.Tests.Campaigns.Outsider;
using QuickSilver.Processes.Tests.Campaigns.Soak;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab;

namespace QuickSilver.Processes.Tests.Scenarios.Service;

// The campaigns, short. Bars that only a quiet machine holds, those of time, are looked at in campaigns alone.
public sealed class CampaignScenarios
{
    // Over IPv4, NarrowPathScenarios and the campaign itself.
    [Fact]
    public void When_the_MTU_of_a_path_of_IPv6_falls_during_a_run_delivery_continues()
    {
        LabRequirement.SkipUnlessMet();
        var log = new CampaignLog("mtu", isTimed: false);
        var campaign = new MtuCampaign(log, isIpv6: true, rate: 1000, bytes: 1400);
        campaign.Round("interface", MtuCampaign.LowerInterface);
        campaign.Round("path", MtuCampaign.LowerPath);
        Assert.Empty(log.Missed);
    }

    [Fact]
    public void A_process_without_the_secret_does_no_harm()
    {
        LabRequirement.SkipUnlessMet();
        var log = new CampaignLog("outsider", isTimed: false);
        using var campaign = new OutsiderCampaign(log, rate: 500, hasCertificates: false);
        campaign.RunAll(pairs: 1, TimeSpan.FromSeconds(1));
        Assert.Empty(log.Missed);
    }

    [Fact]
    public void A_process_with_a_certificate_of_another_authority_does_no_harm()
    {
        LabRequirement.SkipUnlessMet();
        var log = new CampaignLog("outsider", isTimed: false);
        using var campaign = new OutsiderCampaign(log, rate: 500, hasCertificates: true);
        campaign.RunAll(pairs: 1, TimeSpan.FromSeconds(1));
        Assert.Empty(log.Missed);
    }

    [Fact]
    public void A_member_that_lies_does_no_harm_to_topics_in_which_it_is_not()
    {
        LabRequirement.SkipUnlessMet();
        var log = new CampaignLog("liar", isTimed: false);
        using var campaign = new LiarCampaign(log, percent: 50);
        campaign.RunAll(pairs: 1, TimeSpan.FromSeconds(2));
        Assert.Empty(log.Missed);
    }

    [Fact]
    public void A_secret_is_replaced_while_messages_flow_and_the_old_one_is_worth_nothing_then()
    {
        LabRequirement.SkipUnlessMet();
        var log = new CampaignLog("rotation", isTimed: false);
        using var campaign = new RotationCampaign(log, rate: 500);
        campaign.Rotate("the secret", TimeSpan.FromSeconds(2));
        campaign.End();
        Assert.Empty(log.Missed);
    }

    // About half a minute of lives. The slopes of what processes hold need hours, and belong to the campaign. I17.
    [Fact]
    public void Nodes_come_and_go_and_leave_no_descriptor_and_no_thread()
    {
        LabRequirement.SkipUnlessMet();
        EtcdServer.SkipIfMissing();
        var log = new CampaignLog("soak", isTimed: false);
        using var campaign = new SoakCampaign(log, stayers: 2, processes: 2, perMinute: 30);
        campaign.RunShort(rounds: 4, TimeSpan.FromSeconds(8));
        Assert.Empty(log.Missed);
    }

    [Fact]
    public void Killed_nodes_are_removed_and_no_others()
    {
        LabRequirement.SkipUnlessMet();
        var log = new CampaignLog("kill", isTimed: false);
        new KillCampaign(log, isIpv6: false).RunAll(times: 2);
        Assert.Empty(log.Missed);
    }
}
