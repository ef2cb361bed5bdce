using System.Net;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Nodes.Measures;
using QuickSilver.Tool.Doctor.Checks;
using QuickSilver.Tool.Doctor.Keys;

namespace QuickSilver.Tool.Tests.Doctor;

// What is judged of the service and the nodes of a cluster.
public sealed class ClusterCheckTests
{
    private static readonly IPEndPoint EndPoint = IPEndPoint.Parse("10.0.0.1:7400");
    private static readonly IPAddress Local = IPAddress.Parse("10.0.0.2");
    private static readonly KeyFacts Secret = new(KeyKind.Secret) { File = "cluster.secret" };

    private static readonly KeyFacts Certificate =
        new(KeyKind.Certificate) { File = "own.pem", Authority = "authority.pem", Name = "pricer" };

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
            (FindingStatus.Problem, new Remedy("qsm gms --listen 10.0.0.1:7400 --cluster 'trading' --security cluster.secret", "10.0.0.1")),
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

    [Theory]
    [InlineData("10.0.0.1:7400")]
    [InlineData("[::1]:7400")]
    public void A_service_to_be_started_is_given_the_keys_that_this_host_has(string at)
    {
        var facts = Service(ServiceOutcome.NothingListens) with { EndPoint = IPEndPoint.Parse(at) };
        Assert.Contains("--etcd", ServiceCheck.Of(facts).Text);
        Assert.EndsWith("'trading' --security none", Started(new KeyFacts(KeyKind.Unprotected)));
        Assert.EndsWith("'trading' --security keys/house.secret", Started(Secret with { File = "keys/house.secret" }));
        Assert.EndsWith("'trading' --security 'my keys/s'", Started(Secret with { File = "my keys/s" }));
        Assert.EndsWith("'trading' --security own.pem --authority authority.pem", Started(Certificate with { Role = "both" }));
        Assert.EndsWith("'trading'", Started(new KeyFacts(KeyKind.Variable)));

        string Started(KeyFacts keys) => Assert.Single(ServiceCheck.Of(facts with { Keys = keys }).Remedies).Command;
    }

    [Fact]
    public void A_service_on_the_loopback_interface_needs_no_key_if_this_host_has_none()
    {
        var facts = Service(ServiceOutcome.NothingListens) with { EndPoint = IPEndPoint.Parse("[::1]:7400") };
        Assert.EndsWith("'trading'", Assert.Single(ServiceCheck.Of(facts).Remedies).Command);
    }

    [Fact]
    public void A_service_to_be_started_gets_a_certificate_of_its_own_if_that_of_this_host_is_for_nodes()
    {
        var facts = Service(ServiceOutcome.NothingListens) with { Keys = Certificate };
        const string Sign = "--name 'gms' --role service --out 'gms.pem' --force";
        Assert.Equal(
            [
                new Remedy($"qsm keys certificate --authority authority.pem {Sign}", "the host of the authority"),
                new Remedy(
                    "qsm gms --listen 10.0.0.1:7400 --cluster 'trading' --security gms.pem --authority authority.pem", "10.0.0.1"),
            ],
            ServiceCheck.Of(facts).Remedies);
        var here = Certificate with { Authority = "keys/house.pem", SignsHere = true };
        Assert.Equal(
            new Remedy($"qsm keys certificate --authority keys/house.pem {Sign}"), ServiceCheck.Of(facts with { Keys = here }).Remedies[0]);
    }

    [Fact]
    public void Keys_that_do_not_fit_are_fixed_by_keys_and_not_by_looking_for_ports()
    {
        var show = new Remedy("qsm keys show FILE", "10.0.0.1");
        Assert.Equal(
            [new Remedy("qsm keys show cluster.secret"), show, new Remedy("scp 10.0.0.1:FILE cluster.secret")],
            Differ(KeyFault.OtherService, Secret));
        Assert.Contains(
            new Remedy("cp -p authority.pem authority.pem.new && ssh 10.0.0.1 cat AUTHORITY >> authority.pem.new "
                + "&& mv authority.pem.new authority.pem"),
            Differ(KeyFault.OtherService, Certificate));
        const string Sign = "qsm keys certificate --authority authority.pem --name 'pricer' --role";
        Assert.Equal(
            new Remedy($"{Sign} node --out 'own.pem' --force", "the host of the authority"),
            Differ(KeyFault.NotAccepted, Certificate)[^1]);
        Assert.StartsWith($"{Sign} node", Assert.Single(Differ(KeyFault.OwnCertificate, Certificate)).Command);
        Assert.StartsWith($"{Sign} both", Differ(KeyFault.OwnCertificate, Certificate with { Role = "service" })[0].Command);
        Assert.Equal(show, Differ(KeyFault.ServiceCertificate, Certificate)[0]);
        Assert.EndsWith("--security cluster.secret", Assert.Single(Differ(KeyFault.ServiceWithoutKey, Secret)).Command);
        Assert.Equal(
            [
                show, new Remedy("scp 10.0.0.1:FILE cluster.secret"),
                new Remedy("export QuickSilver__Security__SecretFile=cluster.secret", "every node"),
            ],
            Differ(KeyFault.ClientWithoutKey, KeyFacts.None));
        Assert.Contains("unset QS_SECRET", Differ(KeyFault.OtherService, new KeyFacts(KeyKind.Variable))[^1].Command);
    }

    [Fact]
    public void A_service_whose_keys_do_not_fit_is_a_problem_too_where_it_was_found_on_the_network()
    {
        var facts = Service(ServiceOutcome.KeysDiffer) with { EndPoint = null, Keys = Secret, KeyFault = KeyFault.OtherService };
        var finding = ServiceCheck.Of(facts);
        Assert.Equal(FindingStatus.Problem, finding.Status);
        Assert.StartsWith("Why. Compare the fingerprints.", finding.Text);
    }

    [Fact]
    public void A_service_that_was_not_asked_for_want_of_a_key_is_not_blamed()
    {
        var finding = ServiceCheck.Of(Service(ServiceOutcome.NotAsked));
        Assert.Equal(FindingStatus.NotChecked, finding.Status);
        Assert.Empty(finding.Remedies);
        Assert.Equal(FindingStatus.NotChecked, ServiceCheck.Of(Service(ServiceOutcome.NotAsked) with { EndPoint = null }).Status);
    }

    [Fact]
    public void A_service_of_another_cluster_is_reported_with_the_option_that_names_it()
    {
        var finding = ServiceCheck.Of(Service(ServiceOutcome.Refused) with { OtherCluster = "o'hare" });
        Assert.Equal("Why. Correct --cluster, or --gms.", finding.Text);
        Assert.Equal([new Remedy("export QuickSilver__Cluster='o'\\''hare'", "every node")], finding.Remedies);
    }

    [Fact]
    public void That_no_server_leads_is_asked_of_etcd_with_its_options()
    {
        var etcd = new EtcdFacts([new EtcdAnswer(new Uri("https://10.0.0.9:2379/"), Fault: null)], 1) { AuthorityFile = "etcd.pem" };
        Assert.Equal(
            [new Remedy("etcdctl --endpoints https://10.0.0.9:2379 --cacert etcd.pem endpoint health --cluster")],
            ServiceCheck.Of(Service(ServiceOutcome.NoLeader), etcd).Remedies);
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
    public void Reports_of_nodes_about_themselves_are_shown()
    {
        var well = new ClusterNode("aa", EndPoint, null, null);
        Assert.Equal(FindingStatus.NotChecked, Assert.Single(NodesCheck.Of(null, Local)).Status);
        Assert.Equal(FindingStatus.NotChecked, Assert.Single(NodesCheck.Of([], Local)).Status);
        Assert.Equal(FindingStatus.Ok, Assert.Single(NodesCheck.Of([well, well], Local)).Status);
        var findings = NodesCheck.Of([well, well with { SilentSeconds = 3.2 }, well with { Trouble = "It is deaf." }], Local).ToList();
        Assert.Equal(2, findings.Count);
        Assert.All(findings, finding => Assert.Equal(FindingStatus.Warning, finding.Status));
        Assert.Contains("silent for 3.2 s. Look at the process and the network of this node.", findings[0].Text);
        Assert.EndsWith("reports: It is deaf.", findings[1].Text);

        // A slow reader that takes messages is no trouble.
        findings = [.. NodesCheck.Of([well, well with { Held = [("prices", "250/s by orders@web-3")] }], Local)];
        Assert.All(findings, static finding => Assert.Equal(FindingStatus.Ok, finding.Status));
        Assert.EndsWith("topic \"prices\" at the rate of a slow reader: 250/s by orders@web-3.", findings[1].Text);
    }

    [Fact]
    public void Each_reason_that_a_node_reports_is_followed_by_what_to_do()
    {
        foreach (var kind in Enum.GetValues<StatusReasonKind>())
        {
            var node = new ClusterNode("aa", EndPoint, null, "It is so.")
            {
                Reasons = [new ReasonSnapshot("It is so.") { Kind = (long)kind, WaitsFor = "b" }],
            };
            var finding = Assert.Single(NodesCheck.Of([node], Local));
            Assert.Equal(FindingStatus.Warning, finding.Status);
            Assert.EndsWith($"reports: It is so. Waiting for b. {StatusReasons.RemedyFor(kind)}", finding.Text);
        }

        // Several reasons, of which one is of a kind of a later version.
        var troubled = new ClusterNode("aa", EndPoint, null, "One.")
        {
            Reasons =
            [
                new ReasonSnapshot("One.") { Kind = 1L << 32 },
                new ReasonSnapshot("Two.") { Kind = (long)StatusReasonKind.HeapFull },
            ],
        };
        string[] texts = [.. NodesCheck.Of([troubled], Local).Select(static finding => finding.Text)];
        Assert.Equal(2, texts.Length);
        Assert.EndsWith("reports: One.", texts[0]);
        Assert.Contains("reports: Two. Raise the limit of the container or of the heap (DOTNET_GCHeapHardLimit)", texts[1]);
    }

    [Fact]
    public void A_node_at_a_loopback_address_among_other_machines_is_named()
    {
        var alone = new ClusterNode("aa", IPEndPoint.Parse("127.0.1.1:9000"), null, null);
        var finding = Assert.Single(NodesCheck.Of([alone, alone with { EndPoint = EndPoint }], Local));
        Assert.Equal(FindingStatus.Problem, finding.Status);
        Assert.StartsWith("The node aa has the loopback address 127.0.1.1.", finding.Text);
        Assert.Equal(new Remedy("export QuickSilver__Interface=eth0", "the machine of aa"), Assert.Single(finding.Remedies));
        Assert.Equal(FindingStatus.Ok, Assert.Single(NodesCheck.Of([alone], IPAddress.Loopback)).Status);
        Assert.Equal(FindingStatus.Ok, Assert.Single(NodesCheck.Of([alone], null)).Status);
    }

    private static IReadOnlyList<Remedy> Differ(KeyFault fault, KeyFacts keys)
    {
        var finding = ServiceCheck.Of(Service(ServiceOutcome.KeysDiffer) with { Keys = keys, KeyFault = fault });
        Assert.Equal(FindingStatus.Problem, finding.Status);
        return finding.Remedies;
    }

    private static (FindingStatus, Remedy?) Outcome(ServiceOutcome outcome)
    {
        var finding = ServiceCheck.Of(Service(outcome));
        return (finding.Status, finding.Remedies.Count == 0 ? null : finding.Remedies[0]);
    }

    private static ServiceFacts Service(ServiceOutcome outcome) =>
        new(outcome, "trading", EndPoint, IPAddress.Parse("10.0.0.5")) { Reason = "Why." };
}
