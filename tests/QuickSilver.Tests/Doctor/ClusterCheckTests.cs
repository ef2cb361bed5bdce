using System.Net;
using QuickSilver.Tool.Doctor.Checks;

namespace QuickSilver.Tests.Doctor;

// What is judged of the service and the nodes of a cluster.
public sealed class ClusterCheckTests
{
    private static readonly IPEndPoint EndPoint = IPEndPoint.Parse("10.0.0.1:7400");

    [Fact]
    public void A_service_that_answers_is_in_order()
    {
        var finding = ServiceCheck.Of(Service(ServiceOutcome.Answered) with { Nodes = 3, Age = TimeSpan.FromMinutes(5) });
        Assert.Equal(FindingStatus.Ok, finding.Status);
        Assert.Equal("10.0.0.1:7400 is the service of cluster 'trading', with 3 nodes, up for 5 minutes.", finding.Text);
    }

    [Fact]
    public void That_discovery_finds_no_service_is_no_fault() => Assert.Equal(
        FindingStatus.NotChecked, ServiceCheck.Of(Service(ServiceOutcome.NotFound) with { EndPoint = null }).Status);

    [Fact]
    public void Each_way_in_which_a_service_does_not_answer_is_a_problem_with_its_own_remedy()
    {
        Assert.Equal(
            (FindingStatus.Problem, new Remedy("qsm gms --listen 10.0.0.1:7400 --cluster 'trading' --security FILE", "10.0.0.1")),
            Outcome(ServiceOutcome.NothingListens));
        Assert.Equal(
            (FindingStatus.Problem, new Remedy("nft 'insert rule inet filter input ip saddr 10.0.0.5 tcp dport 7400 accept'", "10.0.0.1")),
            Outcome(ServiceOutcome.NoConnection));
        Assert.Equal((FindingStatus.Problem, new Remedy("ss -tlpn 'sport = :7400'", "10.0.0.1")), Outcome(ServiceOutcome.Silent));
        Assert.Equal(
            (FindingStatus.Problem, new Remedy("etcdctl endpoint health", "a host of etcd")), Outcome(ServiceOutcome.NoLeader));
        Assert.Equal((FindingStatus.Problem, null), Outcome(ServiceOutcome.Refused));
        var unresolved = ServiceCheck.Of(Service(ServiceOutcome.Unresolved) with { EndPoint = null });
        Assert.Equal((FindingStatus.Problem, "Why."), (unresolved.Status, unresolved.Text));
    }

    [Fact]
    public void A_service_to_be_started_is_given_the_security_that_it_needs()
    {
        var facts = Service(ServiceOutcome.NothingListens) with { Security = "none" };
        Assert.EndsWith("'trading' --security none", ServiceCheck.Of(facts).Remedies[0].Command);
        Assert.Contains("--etcd", ServiceCheck.Of(facts).Text);
        Assert.EndsWith("'trading'", ServiceCheck.Of(facts with { EndPoint = IPEndPoint.Parse("[::1]:7400") }).Remedies[0].Command);
    }

    [Fact]
    public void A_firewall_before_a_service_is_opened_for_the_family_of_the_host()
    {
        var facts = new ServiceFacts(
            ServiceOutcome.NoConnection, "trading", IPEndPoint.Parse("[fd00::1]:7400"), IPAddress.Parse("fd00::5"));
        Assert.Equal(
            new Remedy("nft 'insert rule inet filter input ip6 saddr fd00::5 tcp dport 7400 accept'", "fd00::1"),
            Assert.Single(ServiceCheck.Of(facts).Remedies));
    }

    [Fact]
    public void What_nodes_report_of_themselves_is_told()
    {
        var well = new ClusterNode("aa", EndPoint, null, null);
        Assert.Equal(FindingStatus.NotChecked, Assert.Single(NodesCheck.Of(null)).Status);
        Assert.Equal(FindingStatus.NotChecked, Assert.Single(NodesCheck.Of([])).Status);
        Assert.Equal(FindingStatus.Ok, Assert.Single(NodesCheck.Of([well, well])).Status);
        var findings = NodesCheck.Of([well, well with { SilentSeconds = 3.2 }, well with { Trouble = "It is deaf." }]).ToList();
        Assert.Equal(2, findings.Count);
        Assert.All(findings, finding => Assert.Equal(FindingStatus.Warning, finding.Status));
        Assert.Contains("silent for 3.2", findings[0].Text);
        Assert.EndsWith("reports: It is deaf.", findings[1].Text);
    }

    private static (FindingStatus, Remedy?) Outcome(ServiceOutcome outcome)
    {
        var finding = ServiceCheck.Of(Service(outcome));
        return (finding.Status, finding.Remedies.Count == 0 ? null : finding.Remedies[0]);
    }

    private static ServiceFacts Service(ServiceOutcome outcome) =>
        new(outcome, "trading", EndPoint, IPAddress.Parse("10.0.0.5")) { Reason = "Why." };
}
