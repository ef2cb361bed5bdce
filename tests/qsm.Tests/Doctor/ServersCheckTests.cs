using System.Net;
using QuickSilver.Tool.Doctor.Checks;

namespace QuickSilver.Tool.Tests.Doctor;

// What is judged of the servers of a service.
public sealed class ServersCheckTests
{
    private static readonly IPEndPoint One = IPEndPoint.Parse("10.0.0.1:7400");
    private static readonly IPEndPoint Two = IPEndPoint.Parse("10.0.0.2:7400");
    private static readonly IPEndPoint Three = IPEndPoint.Parse("10.0.0.3:7400");

    [Fact]
    public void Servers_that_all_name_one_leader_are_in_order_and_one_server_is_no_question()
    {
        var finding = Assert.Single(Of([Says(One, Two), Says(Two, Two), Says(Three, Two)]));
        Assert.Equal((FindingStatus.Ok, "3 of 3 servers answer, and 10.0.0.2:7400 leads."), (finding.Status, finding.Text));
        var none = Assert.Single(ServersCheck.Of([], named: 0));
        Assert.Equal(FindingStatus.NotChecked, none.Status);
        Assert.StartsWith("No server is named. ", none.Text);
        var one = Assert.Single(ServersCheck.Of([], named: 1));
        Assert.Equal(FindingStatus.NotChecked, one.Status);
        Assert.StartsWith("Only one server is named. ", one.Text);
    }

    [Fact]
    public void Another_node_takes_over_where_nodes_host_the_service_and_none_where_it_is_a_server_of_its_own()
    {
        const string NoneJoins = "no node joins, and no failed node is removed";
        string Text(int named, ServiceHost? host)
        {
            var finding = Assert.Single(ServersCheck.Of([], named, etcd: null, host));
            Assert.Equal(FindingStatus.NotChecked, finding.Status);
            return finding.Text;
        }

        Assert.StartsWith("No server is named. A node hosts the service. If it is away, another node", Text(0, ServiceHost.Node));
        Assert.DoesNotContain(NoneJoins, Text(0, ServiceHost.Node));
        Assert.StartsWith("Only one server is named. A node hosts the service. If it is away, another node", Text(1, ServiceHost.Node));
        Assert.Contains("nodes that name this one do not join", Text(1, ServiceHost.Node));
        Assert.All([0, 1], named => Assert.Contains("(qsm gms)", Text(named, ServiceHost.Server)));
        Assert.All([0, 1], named => Assert.Contains(NoneJoins, Text(named, ServiceHost.Server)));
        Assert.StartsWith("No server is named. If the service is a single server, ", Text(0, host: null));
        Assert.EndsWith("Where nodes host it, another node takes over.", Text(0, host: null));
    }

    [Fact]
    public void Each_server_that_does_not_answer_is_a_warning_while_another_leads()
    {
        var findings = Of([Says(One, One), Fails(Two), Fails(Three)]);
        Assert.All(findings, static finding => Assert.Equal(FindingStatus.Warning, finding.Status));
        Assert.Equal("1 of 3 servers answer, and 10.0.0.1:7400 leads. 10.0.0.2:7400 does not: Why.", findings[0].Text);
        Assert.Equal(new Remedy("systemctl restart quicksilver-gms", "10.0.0.3"), Assert.Single(findings[1].Remedies));
    }

    [Fact]
    public void That_none_answers_is_a_problem_of_the_servers_and_that_none_leads_one_of_etcd()
    {
        var none = Assert.Single(Of([Fails(One), Fails(Two)]));
        Assert.Equal(FindingStatus.Problem, none.Status);
        Assert.StartsWith("0 of 2 servers answer. ", none.Text);
        Assert.Equal(new Remedy("systemctl restart quicksilver-gms", "10.0.0.1 and 10.0.0.2"), Assert.Single(none.Remedies));

        var idle = Assert.Single(Of([StandsBy(One), StandsBy(Two), StandsBy(Three)]));
        Assert.Equal(FindingStatus.Problem, idle.Status);
        Assert.StartsWith("3 of 3 servers answer, and none leads. ", idle.Text);
        Assert.Equal("etcdctl endpoint health", idle.Remedies[0].Command);
        Assert.DoesNotContain(idle.Remedies, static remedy => remedy.Command.Contains("restart", StringComparison.Ordinal));

        var some = Assert.Single(Of([Fails(One), StandsBy(Two)]));
        Assert.StartsWith("1 of 2 servers answer, and none leads. ", some.Text);
        Assert.Equal(("etcdctl endpoint health", "10.0.0.1"), (some.Remedies[0].Command, some.Remedies[^1].Where));
    }

    [Fact]
    public void A_server_that_answers_without_the_leader_is_distinguished_from_one_that_does_not_answer()
    {
        var finding = Assert.Single(Of([Says(One, One), StandsBy(Two)]));
        Assert.Equal(FindingStatus.Warning, finding.Status);
        Assert.Equal("2 of 2 servers answer, and 10.0.0.1:7400 leads. 10.0.0.2:7400 does not name it: Why.", finding.Text);
        Assert.Equal(("journalctl -u quicksilver-gms -n 20", "10.0.0.2"), (finding.Remedies[0].Command, finding.Remedies[0].Where));
    }

    [Fact]
    public void Servers_whose_keys_do_not_fit_are_not_restarted()
    {
        var stranger = Fails(One) with { HasKeyFault = true };
        var all = Assert.Single(Of([stranger, Fails(Two) with { HasKeyFault = true }]));
        Assert.Equal(FindingStatus.NotChecked, all.Status);
        var show = new Remedy("qsm keys show FILE", "10.0.0.1");
        Assert.Equal([show], Assert.Single(Of([stranger, Says(Two, Two)])).Remedies);
        Assert.Equal(
            [new Remedy("systemctl restart quicksilver-gms", "10.0.0.2"), show],
            Assert.Single(Of([stranger, Fails(Two)])).Remedies);
    }

    [Fact]
    public void That_two_lead_is_a_problem()
    {
        var two = Assert.Single(Of([Says(One, One), Says(Two, Two)]));
        Assert.Equal(FindingStatus.Problem, two.Status);
        Assert.Contains("10.0.0.1:7400 and 10.0.0.2:7400", two.Text);
        Assert.Contains("each is a cluster of its own: they have no --etcd", two.Text, StringComparison.Ordinal);
    }

    private static ServerAnswer Says(IPEndPoint server, IPEndPoint leader) => new(server, leader, Fault: null);

    private static ServerAnswer Fails(IPEndPoint server) => new(server, Leader: null, "Why.");

    private static ServerAnswer StandsBy(IPEndPoint server) => Fails(server) with { IsStandingBy = true };

    private static IReadOnlyList<Finding> Of(IReadOnlyList<ServerAnswer> servers, EtcdFacts? etcd = null) =>
        ServersCheck.Of(servers, servers.Count, etcd);
}
