using QuickSilver.Diagnostics.Figures;
using QuickSilver.Endpoints;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Records;
using QuickSilver.Tool.Sessions;
using QuickSilver.Tool.Swarm.Records;

namespace QuickSilver.Tool.Swarm;

// One node of a swarm, with ports and a core thread of its own, and its topics.
internal sealed class SwarmNode : IAsyncDisposable
{
    private const long SubscriptionsPerNode = 1_000_000;

    private readonly QuickSilverNode _node;
    private readonly List<SwarmTopic> _topics = [];
    private readonly List<TopicEndpoint<ReadOnlyMemory<byte>>> _barriers = [];

    private SwarmNode(QuickSilverNode node)
    {
        _node = node;
    }

    public IReadOnlyList<SwarmTopic> Topics => _topics;

    public long Read(NodeFigure<long> figure) => _node.Read(figure);

    /// <summary>Starts the node, opens its topics, and says that it is ready by subscribing to one topic more.</summary>
    public static async Task<SwarmNode> StartAsync(
        Session session, SwarmPlan plan, int number, int[] publishersByTopic, ConfigurationCache configurations, NodeRecorder? recorder)
    {
        RecordedParts? parts = null;
        var node = await session.StartNodeAsync(
            recorder is null ? null : machine => parts = new RecordedParts(machine, recorder), configurations, $"swarm-{number}");
        var started = new SwarmNode(node);
        try
        {
            foreach (int topic in plan.TopicsOf(number))
            {
                await started.OpenAsync(session, topic, number, publishersByTopic[topic], recorder, parts);
            }

            // Whatever is published from now on is owed to all of its subscriptions.
            await (recorder?.AllSettledAsync().WaitAsync(plan.Limit, session.Interrupted) ?? Task.CompletedTask);
            await started.OpenBarrierAsync(session, SwarmPlan.Ready);
            return started;
        }
        catch
        {
            await started.DisposeAsync();
            throw;
        }
    }

    public async Task OpenBarrierAsync(Session session, string name) =>
        _barriers.Add(await session.OpenBarrierAsync(_node, name));

    /// <summary>Completes when so many nodes are ready, as this one sees it.</summary>
    public Task AwaitReadyAsync(int nodes, CancellationToken cancellationToken) =>
        _barriers[0].WaitForSubscribersAsync(nodes, cancellationToken);

    /// <summary>
    /// Whether all nodes have come to the end. A node that sees that leaves at once, and the service may report that the last one came and
    /// the first one left together: so one that has left says the same.
    /// </summary>
    public bool SeesEnd(int nodes) => _barriers[^1].Subscribers >= nodes || _barriers[0].Subscribers < nodes;

    public Task<bool> DrainAsync(TimeSpan limit) => DrainWithin.LimitAsync(limit, _node.DrainAsync);

    public ValueTask DisposeAsync() => _node.DisposeAsync();

    private async Task OpenAsync(
        Session session, int topic, int number, int publishers, NodeRecorder? recorder, RecordedParts? parts)
    {
        string name = SwarmPlan.NameOf(topic);
        var endpoint = await session.OpenTopicAsync(_node, name);
        ulong id = TopicId.Of(name);
        var subscription = new Subscription((number * SubscriptionsPerNode) + topic, number, id);
        var opened = new SwarmTopic(endpoint, publishers, subscription, recorder);
        if (parts is not null)
        {
            recorder!.Activated(subscription, await parts.ActiveFromAsync(id));
        }

        opened.Begin();
        _topics.Add(opened);
    }
}
