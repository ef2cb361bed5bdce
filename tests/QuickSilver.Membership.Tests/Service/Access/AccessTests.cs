using QuickSilver.Core.Transport.Tls;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Access;
using QuickSilver.Membership.Tests.Infrastructure;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Service.Access;

// T13, T4: which node may do what, and what the others learn of it.
public sealed class AccessTests
{
    private readonly ScriptedAccess _access = new();
    private readonly FakeCluster _cluster;

    public AccessTests()
    {
        _cluster = new FakeCluster(new MembershipServiceOptions { Access = _access });
    }

    [Fact]
    public void A_node_that_lacks_a_right_is_refused_with_the_right_the_topic_and_the_rule()
    {
        var reader = Add(1, "reader");
        reader.Open("prices", TopicRole.Publish);
        reader.Open("prices", TopicRole.Subscribe);
        reader.Open("prices", TopicRole.Publish | TopicRole.Subscribe);
        reader.Open("secrets", TopicRole.Subscribe);
        reader.Open("news", TopicRole.Publish | TopicRole.Subscribe);
        _cluster.Run(1);
        Assert.Equal(
            [
                "'reader' may not publish in the topic 'prices', by the test.",
                "granted",
                "'reader' may not publish in the topic 'prices', by the test.",
                "'reader' may not subscribe to the topic 'secrets', by the test.",
                "granted",
            ],
            reader.Outcomes);
        Assert.Equal(3, _cluster.Counters.RightsDenied);
    }

    [Fact]
    public void Only_subscribers_learn_who_may_publish_in_a_topic_with_a_rule()
    {
        var reader = Add(1, "reader");
        reader.Open("prices", TopicRole.Subscribe);
        reader.Open("news", TopicRole.Subscribe);
        _cluster.Run(1);
        Assert.Empty(reader.View("prices").Publishers);
        Assert.True(reader.View("news").Publishers.IsDefault);
        Assert.Equal(IdentityId.Of("reader"), reader.Nodes[reader.Key].Identity);
    }

    [Fact]
    public void A_publisher_is_reported_in_the_configuration_that_announces_its_node()
    {
        var reader = Add(1, "reader");
        reader.Open("prices", TopicRole.Subscribe);
        _cluster.Run(1);
        var pricer = Add(2, "pricer");
        _cluster.Run(1);
        var change = reader.Changes.Single(one => one.Joined.Any(node => node.Key == pricer.Key));
        Assert.Equal(IdentityId.Of("pricer"), Assert.Single(Assert.Single(change.Topics).Publishers));

        // Of an identity that is known nothing more is said.
        int before = reader.Changes.Count(static one => !one.Topics.IsEmpty);
        Add(3, "pricer");
        Add(4, "reader");
        _cluster.Run(1);
        Assert.Equal(before, reader.Changes.Count(static one => !one.Topics.IsEmpty));
        Assert.Equal(["pricer:prices", "reader:prices"], _access.AskedToPublish.Distinct().Order());
    }

    [Fact]
    public void Publishers_that_come_and_go_under_names_of_their_own_leave_no_growing_list()
    {
        var reader = Add(1, "reader");
        reader.Open("prices", TopicRole.Subscribe);
        Add(2, "pricer");
        for (ulong i = 0; i < 150; i++)
        {
            var passing = Add(1000 + i, $"pricer {i}");
            _cluster.Run(0.5);
            Assert.Contains(IdentityId.Of($"pricer {i}"), reader.View("prices").Publishers);
            passing.Client.Leave(static () => { });
            _cluster.Run(0.5);
            passing.Client.Dispose();
            Assert.InRange(reader.View("prices").Publishers.Length, 1, 66);
        }

        // One that never went is listed as before, and one that comes back is listed again.
        Assert.Contains(IdentityId.Of("pricer"), reader.View("prices").Publishers);
        Add(3000, "pricer 0");
        _cluster.Run(1);
        Assert.Contains(IdentityId.Of("pricer 0"), reader.View("prices").Publishers);
    }

    [Fact]
    public void The_next_life_of_the_service_reports_the_same()
    {
        var reader = Add(1, "reader");
        var pricer = Add(2, "pricer");
        reader.Open("prices", TopicRole.Subscribe);
        pricer.Open("prices", TopicRole.Publish);
        _cluster.Run(1);
        Assert.Equal(IdentityId.Of("pricer"), Assert.Single(reader.View("prices").Publishers));
        _cluster.ServiceEnvironment.Crash();
        _cluster.StartService();
        _cluster.Run(10);
        Assert.Equal(IdentityId.Of("pricer"), Assert.Single(reader.View("prices").Publishers));
        Assert.Equal(2, reader.Nodes.Count);
    }

    [Fact]
    public void No_node_continues_as_a_node_of_another_identity()
    {
        var pricer = Add(1, "pricer");
        _cluster.Run(1);
        Assert.True(pricer.Reachable);
        // With the key of the first, which every node gets.
        var thief = Add(1, "reader");
        _cluster.Run(3);
        Assert.Equal("The key 0000000000000001.1 is that of another member. Restart this node.", thief.Client.LastRefusal);
        Assert.StartsWith("it refused this node: The key", thief.Client.LastFailure);
        Assert.True(pricer.Client.IsReachable);
        Assert.Equal(IdentityId.Of("pricer"), pricer.Nodes[pricer.Key].Identity);
    }

    [Fact]
    public void A_node_that_comes_first_to_a_new_leader_with_the_key_of_another_node_does_not_keep_it()
    {
        byte[] proof = [.. Enumerable.Range(1, NodeProof.Bytes).Select(static i => (byte)i)];
        ulong id = NodeProof.IdOf(proof);
        var other = Add(9, "reader");
        var thief = Add(id, "reader");
        _cluster.Run(1);
        Assert.True(thief.Client.IsReachable);
        var owner = Add(id, "pricer", proof);
        _cluster.Run(10);
        Assert.True(owner.Client.IsReachable);
        Assert.Null(owner.Expelled);
        Assert.Equal(IdentityId.Of("pricer"), other.Nodes[owner.Key].Identity);
        Assert.False(thief.Client.IsReachable);
        Assert.Contains("of another node", thief.Client.LastRefusal ?? thief.Client.LastFailure);
    }

    [Fact]
    public void No_node_without_the_proof_continues_as_one_that_has_shown_it_even_with_the_same_identity()
    {
        byte[] proof = [.. Enumerable.Range(1, NodeProof.Bytes).Select(static i => (byte)i)];
        ulong id = NodeProof.IdOf(proof);
        var owner = Add(id, "pricer", proof);
        _cluster.Run(1);
        var thief = Add(id, "pricer");
        _cluster.Run(3);
        Assert.Contains("is that of another member", thief.Client.LastRefusal);
        Assert.True(owner.Client.IsReachable);
        Assert.Equal(0, _cluster.Counters.NodesResumed);
    }

    [Fact]
    public void One_certificate_has_so_many_sessions()
    {
        var cluster = new FakeCluster(new MembershipServiceOptions { Limits = new SessionLimits { MaxSessionsPerIdentity = 2 } });
        foreach (int id in Enumerable.Range(1, 3))
        {
            cluster.AddNode((ulong)id).Environment.Identity = "pricer";
        }

        var other = cluster.AddNode(9);
        other.Environment.Identity = "reader";
        cluster.Run(3);
        Assert.Equal(3, cluster.Service.MemberCount);
        Assert.True(other.Client.IsReachable);
        Assert.True(cluster.Counters.SessionsRefused > 0);
    }

    [Fact]
    public void A_session_ends_with_the_certificate_and_a_node_with_another_one_by_then_continues_as_the_same_member()
    {
        var renewed = Add(1, "pricer");
        var expired = Add(2, "reader");
        var until = renewed.Environment.UtcNow + TimeSpan.FromSeconds(10);
        renewed.Environment.CertificateUntil = expired.Environment.CertificateUntil = until;
        _cluster.Run(9);
        Assert.Equal(2, renewed.Nodes.Count);
        renewed.Environment.CertificateUntil = until.AddDays(1);
        // As one that no node trusts any more.
        expired.Environment.World.IsBlocked = (from, to) => from == expired.Environment || to == expired.Environment;
        _cluster.Run(2);
        Assert.Equal(2, _cluster.Counters.SessionsExpired);
        _cluster.Run(10);
        Assert.True(renewed.Client.IsReachable);
        Assert.Equal(1, _cluster.Counters.NodesResumed);
        Assert.Equal([renewed.Key], renewed.Nodes.Keys);
        Assert.Equal(2, _cluster.Counters.SessionsExpired);
    }

    [Fact]
    public void Sessions_that_end_with_their_secret_are_counted_and_those_that_the_network_ends_are_not()
    {
        var node = Add(1, "pricer");
        _cluster.Run(2);
        node.Environment.BreakStreams();
        _cluster.Run(3);
        Assert.Equal(0, _cluster.Counters.SessionsDropped);
        node.Environment.BreakStreams(TlsAdmission.NotAcceptedAnyMore);
        _cluster.Run(3);
        Assert.Equal(1, _cluster.Counters.SessionsDropped);
        Assert.True(node.Client.IsReachable);
    }

    private FakeNode Add(ulong id, string identity, byte[]? proof = null)
    {
        var node = _cluster.AddNode(id, proof: proof);
        node.Environment.Identity = identity;
        return node;
    }

    // Prices are published by pricers, and no node may publish secrets.
    private sealed class ScriptedAccess : ITopicAccess
    {
        public List<string> AskedToPublish { get; } = [];

        public string Source => "the test";

        public bool IsRestricted(string topic) => topic is "prices" or "secrets";

        public string? EnclosureOf(string topic) => null;

        public bool MayPublish(string identity, string topic)
        {
            if (IsRestricted(topic))
            {
                AskedToPublish.Add($"{identity}:{topic}");
            }

            return !IsRestricted(topic) || (topic == "prices" && identity.StartsWith("pricer", StringComparison.Ordinal));
        }

        public bool MaySubscribe(string identity, string topic) => topic != "secrets";
    }
}
