using QuickSilver.Tool.Doctor.Checks;
using QuickSilver.Tool.Etcd;

namespace QuickSilver.Tool.Tests.Doctor;

// What is judged of the members of etcd.
public sealed class EtcdCheckTests
{
    private static readonly Remedy AskPlain = new("etcdctl endpoint health --cluster", "a host of etcd");

    [Fact]
    public void Members_that_all_answer_are_in_order_and_possible_failures_are_named()
    {
        Assert.Equal((FindingStatus.Ok, "3 of 3 members answer; 1 more may fail."), One(3, Says(1), Says(2), Says(3)));
        Assert.Equal((FindingStatus.Ok, "2 of 2 members answer; one more lost and no server can lead."), One(2, Says(1), Says(2)));
        Assert.Equal(
            (FindingStatus.Ok, "1 of 1 member answers. It is the only one: while it is away, no server can lead."), One(1, Says(1)));
        Assert.Equal(FindingStatus.NotChecked, Assert.Single(EtcdCheck.Of(null)).Status);
    }

    [Fact]
    public void Members_without_TLS_on_a_network_are_in_order_with_a_word_on_who_may_reach_them()
    {
        var finding = Assert.Single(EtcdCheck.Of(new EtcdFacts([Says(1, "http")], 1)));
        Assert.Equal(FindingStatus.Ok, finding.Status);
        Assert.EndsWith("They are asked without TLS: let only the servers reach them.", finding.Text);
    }

    [Fact]
    public void Each_member_that_does_not_answer_is_a_warning_with_what_remains_of_the_quorum()
    {
        var finding = Assert.Single(EtcdCheck.Of(new EtcdFacts([Says(1, "http"), Fails(2, "http"), Says(3, "http")], 3)));
        Assert.Equal(FindingStatus.Warning, finding.Status);
        Assert.Equal(
            "2 of 3 members answer; one more lost and no server can lead. http://10.0.0.2:2379/ does not answer: why.", finding.Text);
        Assert.Equal([new Remedy("systemctl status etcd", "10.0.0.2"), AskPlain], finding.Remedies);

        var two = EtcdCheck.Of(new EtcdFacts([Says(1), Fails(2), Fails(3), Says(4), Says(5)], 5));
        Assert.Equal(2, two.Count);
        Assert.All(two, static one => Assert.StartsWith("3 of 5 members answer; one more lost", one.Text));
    }

    [Fact]
    public void A_member_that_does_not_trust_this_host_is_not_looked_for_on_its_own()
    {
        var facts = new EtcdFacts([Says(1), Fails(2) with { IsSilent = false }, Says(3)], 3)
        {
            CertificateFile = "own.pem",
            AuthorityFile = "etcd.pem",
        };
        const string Options = "--endpoints https://10.0.0.1:2379 --cacert etcd.pem --cert own.pem --key own.pem";
        Assert.Equal(
            [new Remedy($"etcdctl {Options} endpoint health --cluster")],
            Assert.Single(EtcdCheck.Of(facts)).Remedies);
    }

    [Fact]
    public void That_a_leader_is_known_although_few_answer_is_a_fault_of_the_way_to_the_others()
    {
        var findings = EtcdCheck.Of(new EtcdFacts([Says(1), Fails(2), Fails(3)], 3));
        Assert.Equal(2, findings.Count);
        Assert.All(findings, static one => Assert.Equal(FindingStatus.Warning, one.Status));
        Assert.Contains("this host does not reach them", findings[0].Text);
    }

    [Fact]
    public void Without_a_quorum_it_is_a_problem_that_names_the_hosts_of_those_that_are_away()
    {
        var one = Assert.Single(EtcdCheck.Of(new EtcdFacts([Idle(1, "http"), Fails(2, "http"), Fails(3, "http")], 3)));
        Assert.Equal(FindingStatus.Problem, one.Status);
        Assert.StartsWith("1 of 3 members answers, and it has no leader: 2 are needed. No server can lead", one.Text);
        Assert.EndsWith("http://10.0.0.2:2379/ does not answer: why.", one.Text);
        Assert.Equal([new Remedy("systemctl status etcd", "10.0.0.2 and 10.0.0.3"), AskPlain], one.Remedies);

        Assert.StartsWith("0 of 2 members answer. No server can lead", One(0, Fails(1), Fails(2)).Text);
        var apart = One(3, Idle(1), Idle(2), Idle(3));
        Assert.Equal(FindingStatus.Problem, apart.Status);
        Assert.StartsWith("3 of 3 members answer, and they have no leader. They do not reach each other", apart.Text);
    }

    [Fact]
    public void That_this_host_does_not_trust_etcd_says_nothing_of_its_leader()
    {
        var strange = Fails(1) with { IsSilent = false, KeyFault = EtcdKeyFault.NotBelieved };
        var finding = Assert.Single(EtcdCheck.Of(new EtcdFacts([strange], 0)));
        Assert.Equal(FindingStatus.Problem, finding.Status);
        Assert.Equal(
            "This host cannot verify etcd, so it is not known whether a server can lead. https://10.0.0.1:2379/: why.", finding.Text);
        const string Own = "--cert etcd-client.pem --key etcd-client.pem endpoint health --cluster";
        Assert.Equal(
            [new Remedy($"etcdctl --endpoints https://10.0.0.1:2379 --cacert etcd-authority.pem {Own}")], finding.Remedies);

        var refuses = strange with { KeyFault = EtcdKeyFault.NotAccepted };
        var refused = Assert.Single(EtcdCheck.Of(new EtcdFacts([refuses, Fails(2)], 0) { AuthorityFile = "house.pem" }));
        Assert.StartsWith("etcd does not answer this host, so it is not known whether a server can lead.", refused.Text);
        Assert.Equal(
            [
                new Remedy("systemctl status etcd", "10.0.0.2"),
                new Remedy($"etcdctl --endpoints https://10.0.0.1:2379 --cacert house.pem {Own}"),
            ],
            refused.Remedies);
    }

    [Fact]
    public void That_not_all_members_are_named_is_a_warning_and_two_addresses_of_one_count_once()
    {
        var finding = Assert.Single(EtcdCheck.Of(new EtcdFacts([Says(1, "http"), Says(2, "http") with { Id = 1 }], 3)));
        Assert.Equal(
            (FindingStatus.Warning, "1 of 3 members answers. --etcd names 1: name all, here and for the servers."),
            (finding.Status, finding.Text));
        Assert.Equal([new Remedy("etcdctl member list", "a host of etcd")], finding.Remedies);
    }

    [Fact]
    public void An_alarm_of_a_member_is_a_problem_with_the_commands_that_end_it()
    {
        var finding = Assert.Single(EtcdCheck.Of(new EtcdFacts([Says(1, "http") with { Alarms = ["memberID:1 alarm:NOSPACE"] }], 1)));
        Assert.Equal(FindingStatus.Problem, finding.Status);
        Assert.StartsWith("http://10.0.0.1:2379/ reports: memberID:1 alarm:NOSPACE. ", finding.Text);
        Assert.Equal(["etcdctl defrag --cluster", "etcdctl alarm disarm"], finding.Remedies.Select(static one => one.Command));
    }

    [Theory]
    [InlineData(90, "ahead of")]
    [InlineData(-90, "behind")]
    public void A_member_whose_clock_differs_is_a_warning(int seconds, string side)
    {
        var member = Says(2) with { ClockOffset = TimeSpan.FromSeconds(seconds) };
        var finding = Assert.Single(ClockCheck.OfMembers(new EtcdFacts([Says(1), member], 2)));
        Assert.Equal(FindingStatus.Warning, finding.Status);
        Assert.StartsWith($"The clock of 10.0.0.2 is at least 90 s {side} this host's.", finding.Text);
        Assert.Equal([new Remedy("timedatectl set-ntp true", "10.0.0.2")], finding.Remedies);
        Assert.Empty(ClockCheck.OfMembers(null));
    }

    // The date of an answer has seconds, and it was written at some time between question and answer.
    [Theory]
    [InlineData(9, 0, 9.0)]
    [InlineData(0, 0, 0.0)]
    [InlineData(-1, 0.1, 0.0)]
    [InlineData(1, 1.0, 0.0)]
    [InlineData(-9, 0, -8.0)]
    public void Clocks_differ_by_what_the_date_of_an_answer_shows_at_least(int date, double length, double least)
    {
        var now = new DateTimeOffset(2026, 1, 31, 0, 0, 0, TimeSpan.Zero);
        var offset = ClockCheck.OffsetOf(now.AddSeconds(date), now, now.AddSeconds(length));
        Assert.Equal(TimeSpan.FromSeconds(least), offset);
        Assert.Equal(TimeSpan.Zero, ClockCheck.OffsetOf(null, now, now));
    }

    [Fact]
    public void Files_that_cannot_be_used_are_a_problem()
    {
        var finding = Assert.Single(EtcdCheck.Of(new EtcdFacts([], 0) { Fault = "No." }));
        Assert.Equal((FindingStatus.Problem, "No."), (finding.Status, finding.Text));
    }

    private static (FindingStatus Status, string Text) One(int voters, params EtcdAnswer[] answers)
    {
        var finding = Assert.Single(EtcdCheck.Of(new EtcdFacts(answers, voters)));
        return (finding.Status, finding.Text);
    }

    private static EtcdAnswer Says(int member, string scheme = "https") => Idle(member, scheme) with { HasLeader = true };

    private static EtcdAnswer Idle(int member, string scheme = "https") =>
        new(new Uri($"{scheme}://10.0.0.{member}:2379/"), Fault: null) { Id = (ulong)member };

    private static EtcdAnswer Fails(int member, string scheme = "https") => Idle(member, scheme) with { Fault = "why", IsSilent = true };
}
