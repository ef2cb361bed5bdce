using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Access;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Regions.Sets;

// T13: who may publish in a topic has the keys of its regions, and must not read with them what it may not subscribe to.
public sealed class EnclosureTests
{
    // Topics 1 and 2 are enclosed together, 3 alone, and the others not.
    private static ulong Fixed(ulong topic) => topic <= 2 ? 7 : topic == 3 ? 8UL : 0;

    [Fact]
    public void Topics_of_different_enclosures_share_no_region_whatever_changes()
    {
        int together = 0;
        foreach (var rules in (TopicSetRules?[])[null, RegionMapTests.Eager])
        {
            Prop.ForAll(MapHistory.All, steps =>
            {
                var world = new MapHistory(TopicSetKey.OfTopic, rules) { EnclosureOf = Fixed };
                Array.ForEach(steps, world.Do);
                world.MakeConfiguration();
                together = Math.Max(together, world.MostEnclosed);
            }).Check(Config.QuickThrowOnFailure.WithMaxTest(200).WithEndSize(150));
        }

        Assert.Equal(2, together);
    }

    [Fact]
    public void Topics_come_into_an_enclosure_and_out_of_it_while_they_are_open()
    {
        foreach (var rules in (TopicSetRules?[])[null, RegionMapTests.Eager])
        {
            Prop.ForAll(MapHistory.All, steps =>
            {
                var world = new MapHistory(TopicSetKey.OfTopic, rules);
                for (int i = 0; i < steps.Length; i++)
                {
                    world.Do(steps[i]);
                    if (i % 10 == 9)
                    {
                        ulong round = (ulong)i / 10;
                        world.EnclosureOf = topic => (topic + round) % 3;
                        world.MakeConfiguration();
                    }
                }
            }).Check(Config.QuickThrowOnFailure.WithMaxTest(200).WithEndSize(150));
        }
    }

    [Fact]
    public void Enclosed_topics_continue_unchanged_when_another_service_takes_over()
    {
        long adopted = 0;
        Prop.ForAll(MapHistory.All, steps =>
        {
            var world = new MapHistory(TopicSetKey.OfTopic, RegionMapTests.Eager) { EnclosureOf = Fixed };
            for (int i = 0; i < steps.Length; i++)
            {
                world.Do(steps[i]);
                if (i % 20 == 19)
                {
                    world.MakeConfiguration();
                    world.ChangeService((uint)i);
                    adopted += world.Map.Regions.Values.Count(static region => Fixed(region.Topics[0].Id) != 0 && region.IsAdopted);
                }
            }
        }).Check(Config.QuickThrowOnFailure.WithMaxTest(200).WithEndSize(150));
        Assert.True(adopted > 100);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_node_that_publishes_beside_a_topic_that_it_may_not_read_has_no_key_of_it(bool isToldByRule)
    {
        var cluster = new FakeCluster(new MembershipServiceOptions
        {
            Access = new OfTheBosses(isToldByRule),
            IsSealed = true,
        });
        var bosses = new[] { Add(1, "boss"), Add(2, "boss") };
        foreach (var boss in bosses)
        {
            boss.Subscribe("plans", "plans/2", "news");
        }

        cluster.Run(1);
        var clerk = Add(3, "clerk");
        clerk.Open("news", TopicRole.Publish);
        clerk.Open("plans", TopicRole.Subscribe);
        cluster.Run(1);
        Assert.Contains("'clerk' may not subscribe to the topic 'plans', by the test.", clerk.Outcomes);
        ulong[] plans = [.. bosses[0].View("plans").Regions, .. bosses[0].View("plans/2").Regions];
        ulong news = Assert.Single(clerk.View("news").Regions);
        Assert.NotNull(clerk.Regions[news].Key);
        Assert.DoesNotContain(news, plans);
        Assert.All(plans, region => Assert.Null(clerk.Regions.GetValueOrDefault(region)?.Key));
        Assert.Equal(isToldByRule ? 1 : 2, plans.Distinct().Count());

        FakeNode Add(ulong id, string identity)
        {
            var node = cluster.AddNode(id);
            node.Environment.Identity = identity;
            return node;
        }
    }

    private sealed class OfTheBosses(bool hasRule) : ITopicAccess
    {
        public string Source => "the test";

        public bool IsRestricted(string topic) => !hasRule;

        public string? EnclosureOf(string topic) => hasRule && IsPlan(topic) ? "plans" : null;

        public bool MayPublish(string identity, string topic) => true;

        public bool MaySubscribe(string identity, string topic) => identity == "boss" || !IsPlan(topic);

        private static bool IsPlan(string topic) => topic.StartsWith("plans", StringComparison.Ordinal);
    }
}
