using System.Collections;
using System.Reflection;
using QuickSilver.Simulation.Experiments;

namespace QuickSilver.Simulation.Tests.Experiments;

// The modelled collector charges what the papers' text says, and a light topic weighs what one of this library does.
public sealed class CollectorModelTests
{
    private const int Topics = 200;

    [Fact]
    public void Ten_megabytes_of_pending_messages_cost_a_twentieth()
    {
        const double Pending = 10e6 / 3000;
        var live = CollectorModel.Live(TopicWeight.Light, topics: 0, members: 0, Pending, Pending * 1000);

        Assert.InRange(1 / (1 + CollectorModel.Papers.ShareOf(live)), 0.945, 0.955);
        Assert.Equal(10e6, live.Bytes, 1);
    }

    [Theory]
    [InlineData("light", 0, 0.05)]
    [InlineData("papers", 0.10, 0.20)]
    [InlineData("heavyweight", 0.20, 0.30)]
    public void Eight_thousand_topics_cost_by_their_weight(string name, double least, double most)
    {
        var weight = TopicWeight.All.Single(weight => weight.Name == name);

        Assert.InRange(CollectorModel.Papers.ShareOf(CollectorModel.Live(weight, 8192, members: 0, 0, 0)), least, most);
    }

    [Fact]
    public void More_members_more_packets_and_more_topics_each_cost_more()
    {
        double Cost(int topics, int members, double packets) =>
            CollectorModel.Papers.ShareOf(CollectorModel.Live(TopicWeight.Light, topics, members, packets, packets * 1000));

        Assert.True(Cost(100, 10, 10) < Cost(200, 10, 10));
        Assert.True(Cost(100, 10, 10) < Cost(100, 20, 10));
        Assert.True(Cost(100, 10, 10) < Cost(100, 10, 20));
        Assert.Equal(0, CollectorModel.None.ShareOf(CollectorModel.Live(TopicWeight.Heavyweight, 8192, 200, 1000, 1e6)));
    }

    [Fact]
    public void A_topic_of_a_simulated_node_has_no_more_objects_than_the_model_charges_for()
    {
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 2 });
        cluster.Start();
        var kept = new List<object>();
        Open(0, 20);
        int before = CountObjects(cluster, kept);
        Open(20, Topics);
        double perTopic = (CountObjects(cluster, kept) - before) / (2.0 * Topics);

        // Of two nodes and their service together.
        Assert.InRange(perTopic, 5, TopicWeight.Light.Kind.Objects);

        void Open(int first, int topics)
        {
            foreach (var node in cluster.Nodes)
            {
                var opened = Task.WhenAll(Enumerable.Range(first, topics).Select(i =>
                    node.Node.OpenTopicAsync<ReadOnlyMemory<byte>>($"topic/{i}")));
                foreach (var topic in cluster.RunUntilCompleted(opened))
                {
                    kept.Add(topic);
                    topic.SubscribeInline((in _) => { });
                }
            }

            cluster.Run(TimeSpan.FromSeconds(5));
        }
    }

    // Everything that is reached over fields and elements.
    private static int CountObjects(params object[] roots)
    {
        var seen = new HashSet<object>(ReferenceEqualityComparer.Instance);
        var open = new Stack<object>(roots);
        while (open.TryPop(out var next))
        {
            if (next is Pointer or MemberInfo or Assembly or Module or Thread || !seen.Add(next))
            {
                continue;
            }

            if (next is Array elements)
            {
                if (!elements.GetType().GetElementType()!.IsPrimitive)
                {
                    PushAll(elements);
                }

                continue;
            }

            PushFields(next);
        }

        return seen.Count;

        void PushAll(IEnumerable elements)
        {
            foreach (object? element in elements)
            {
                Push(element);
            }
        }

        void Push(object? value)
        {
            if (value is null || value.GetType().IsPrimitive || value.GetType().IsEnum)
            {
                return;
            }

            if (value.GetType().IsValueType)
            {
                PushFields(value);
            }
            else
            {
                open.Push(value);
            }
        }

        void PushFields(object owner)
        {
            for (var type = owner.GetType(); type is not null; type = type.BaseType)
            {
                foreach (var field in type.GetFields(
                    BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly))
                {
                    if (!field.FieldType.IsPointer && !field.FieldType.IsByRefLike && !field.FieldType.IsPrimitive)
                    {
                        Push(field.GetValue(owner));
                    }
                }
            }
        }
    }
}
