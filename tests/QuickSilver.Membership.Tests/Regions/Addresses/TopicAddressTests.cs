using System.Net;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Regions.Addresses;
using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Regions.Addresses;

// Which topics get multicast addresses of their own.
public sealed class TopicAddressTests
{
    private const int Nodes = 40;
    private const ulong Wide = 1;
    private long _configuration;

    [Fact]
    public void A_topic_in_many_regions_has_an_address_and_one_in_few_has_none()
    {
        var map = New(new TopicAddressRules());
        Spread(map, Wide, nodes: 8);
        Subscribe(map, 2, 31, 32);
        Apply(map);

        var news = map.NewsOf(Key(1)).Topics.Single(view => view.TopicId == Wide);
        Assert.Equal(AddressOf(map, Wide), news.Address);
        Assert.NotNull(news.Address);
        Assert.Equal(_configuration, news.Address.Since);
        Assert.Null(AddressOf(map, 2));
        Assert.Equal([Wide], map.TopicsWithAddress.Select(topic => topic.Id));
        Assert.Equal(news, map.SnapshotOf(Key(1)).Topics.Single(view => view.TopicId == Wide));
    }

    [Fact]
    public void Without_the_limit_nothing_has_an_address()
    {
        foreach (var rules in new[] { TopicAddressRules.None, new TopicAddressRules { MostOfNode = 0 } })
        {
            var map = New(rules);
            Spread(map, Wide, nodes: 8);
            Apply(map);
            Assert.Empty(map.TopicsWithAddress);
        }
    }

    [Fact]
    public void An_address_stays_while_half_of_the_sends_are_left_and_is_withdrawn_then()
    {
        var map = New(new TopicAddressRules());
        Spread(map, Wide, nodes: 8);
        Apply(map);
        var address = AddressOf(map, Wide);
        for (int node = 8; node > 2; node--)
        {
            map.SetRole(Key(node), Wide, TopicRole.None);
            Apply(map);
            Assert.Equal(address, AddressOf(map, Wide));
        }

        map.SetRole(Key(2), Wide, TopicRole.None);
        Apply(map);
        Assert.Null(AddressOf(map, Wide));
        Assert.Null(map.NewsOf(Key(1)).Topics.Single(view => view.TopicId == Wide).Address);
    }

    [Fact]
    public void After_an_address_was_withdrawn_the_topic_has_none_for_a_while()
    {
        var rules = new TopicAddressRules { RestConfigurations = 5 };
        var map = New(rules);
        Spread(map, Wide, nodes: 8);
        Apply(map);
        for (int node = 2; node <= 8; node++)
        {
            map.SetRole(Key(node), Wide, TopicRole.None);
        }

        Apply(map);
        Assert.Null(AddressOf(map, Wide));
        for (int i = 1; i <= 10; i++)
        {
            Subscribe(map, Wide, 1 + i);
            Apply(map);
            Assert.Equal(i >= rules.RestConfigurations, AddressOf(map, Wide) is not null);
        }
    }

    [Fact]
    public void The_limit_of_the_cluster_goes_to_the_topics_that_save_most()
    {
        var map = New(new TopicAddressRules { Most = 2 });
        Spread(map, 1, nodes: 6);
        Spread(map, 2, nodes: 12);
        Spread(map, 3, nodes: 20);
        Apply(map);
        Assert.Equal([2UL, 3UL], map.TopicsWithAddress.Select(topic => topic.Id).Order());

        // It takes more than a little more to take an address away.
        Spread(map, 4, nodes: 13);
        Apply(map);
        Assert.Equal([2UL, 3UL], map.TopicsWithAddress.Select(topic => topic.Id).Order());
        Spread(map, 5, nodes: 40);
        Apply(map);
        Assert.Equal([3UL, 5UL], map.TopicsWithAddress.Select(topic => topic.Id).Order());
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void No_node_and_no_cluster_exceeds_its_limit_whatever_changes(int seed)
    {
        var random = new Random(seed);
        var rules = new TopicAddressRules { Most = 5, MostOfNode = 2, LeastSends = 3, RestConfigurations = 2 };
        var map = New(rules);
        int changes = 0;
        var before = new Dictionary<ulong, IPEndPoint?>();
        for (int i = 0; i < 400; i++)
        {
            int node = random.Next(1, Nodes + 1);
            ulong topic = (ulong)random.Next(1, 13);
            bool isOpen = map.IsOpen(Key(node), topic);
            map.SetRole(Key(node), topic, isOpen && random.Next(3) == 0 ? TopicRole.None : TopicRole.Subscribe);
            Apply(map);

            Assert.InRange(map.TopicsWithAddress.Count, 0, rules.Most);
            var addresses = map.TopicsWithAddress.Select(one => AddressOf(map, one.Id)!.EndPoint).ToList();
            Assert.Equal(addresses.Count, addresses.Distinct().Count());
            for (int one = 1; one <= Nodes; one++)
            {
                var open = map.SnapshotOf(Key(one)).Topics;
                Assert.InRange(open.Count(view => view.Address is not null), 0, rules.MostOfNode);
                Assert.All(open, view => Assert.Equal(AddressOf(map, view.TopicId), view.Address));
            }

            foreach (var one in map.Topics.Values)
            {
                changes += before.TryGetValue(one.Id, out var address) && !Equals(address, AddressOf(map, one.Id)?.EndPoint) ? 1 : 0;
                before[one.Id] = AddressOf(map, one.Id)?.EndPoint;
            }
        }

        Assert.InRange(changes, 1, 100);
    }

    [Fact]
    public void A_pinned_topic_has_one_region_and_needs_no_address()
    {
        var map = New(new TopicAddressRules { LeastSends = 1 });
        for (int node = 1; node <= 4; node++)
        {
            map.SetRole(Key(node), Wide, TopicRole.Subscribe, isPinned: true);
        }

        Apply(map);
        Assert.Null(AddressOf(map, Wide));
    }

    [Fact]
    public void Two_services_with_the_same_subscriptions_give_the_same_addresses()
    {
        Assert.Equal(Addresses(), Addresses());

        List<(ulong, IPEndPoint?)> Addresses()
        {
            var map = New(new TopicAddressRules());
            Spread(map, 1, nodes: 8);
            Spread(map, 2, nodes: 12);
            Apply(map);
            return [.. map.TopicsWithAddress.OrderBy(topic => topic.Id).Select(topic => (topic.Id, AddressOf(map, topic.Id)?.EndPoint))];
        }
    }

    private static TopicAddress? AddressOf(RegionMap map, ulong topic) => map.AddressOf(map.Topics[topic]);

    private void Apply(RegionMap map) => map.Apply(++_configuration);

    // Each node has a topic of its own besides, so each is a region.
    private static void Spread(RegionMap map, ulong topic, int nodes)
    {
        for (int node = 1; node <= nodes; node++)
        {
            Subscribe(map, topic, node);
            Subscribe(map, 100 + (ulong)node, node);
        }
    }

    private static RegionMap New(TopicAddressRules rules)
    {
        var sets = new TopicSetRules { MaxSets = 1 };
        var map = new RegionMap(
            new AddressPlan("test", IPNetwork.Parse("239.192.0.0/14")), 1, sets, topicAddresses: rules);
        for (int node = 1; node <= Nodes; node++)
        {
            map.AddNode(Key(node));
        }

        return map;
    }

    private static NodeKey Key(int node) => new((ulong)node, 1);

    private static void Subscribe(RegionMap map, ulong topic, params int[] nodes)
    {
        foreach (int node in nodes)
        {
            map.SetRole(Key(node), topic, TopicRole.Subscribe);
        }
    }
}
