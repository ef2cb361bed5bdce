using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Composition;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Simulation.Checkers.Records;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Seeds.Tests.Infrastructure.Courses;

// Nodes of another cluster on the same network (F23): the same discovery, the same multicast range, topics of the same names. They and the
// cluster under test never hear each other.
internal sealed class Strangers : IDisposable
{
    private const int Count = 2;
    private const string Topic = "topic/0";

    private static readonly TimeSpan Pace = TimeSpan.FromMilliseconds(20);

    private readonly WholeCluster _cluster;
    private readonly ProtocolOptions _options;
    private readonly ConfigurationCache _configurations = new();
    private readonly List<SimulatedParts> _parts = [];
    private readonly List<QuickSilverNode> _nodes = [];
    private readonly CancellationTokenSource _over = new();
    private NodeId? _foreign;

    public Strangers(WholeCluster cluster)
    {
        _cluster = cluster;
        _options = ProtocolOptions.Of(cluster.Options.Copy(static copy => copy.Cluster = "strangers"));
        for (int i = 0; i < Count; i++)
        {
            cluster.Watch(BeginAsync(cluster.Simulation.AddNode()));
        }
    }

    /// <summary>Throws when one of them has heard one of the others.</summary>
    public void Require()
    {
        if (_foreign is { } sender)
        {
            throw new InvariantException($"I24: a node of another cluster was given a message of {sender}.");
        }
    }

    public void Dispose()
    {
        _over.Cancel();
        foreach (var parts in _parts)
        {
            ((SimulatedEnvironment)parts.Environment).Node.Crash();
        }

        foreach (var node in _nodes)
        {
            _ = node.DisposeAsync();
        }
    }

    private async Task BeginAsync(SimulatedMachine machine)
    {
        var parts = new SimulatedParts(machine.Environment, _options, services: [], _configurations, NullLoggerFactory.Instance);
        _parts.Add(parts);
        ITopic<ReadOnlyMemory<byte>> topic;
        try
        {
            var node = await QuickSilverNode.StartAsync(parts, _options.Node, NullLoggerFactory.Instance, _over.Token);
            _nodes.Add(node);
            topic = await node.OpenTopicAsync<ReadOnlyMemory<byte>>(Topic);
        }
        catch (Exception exception) when (exception is MembershipUnreachableException or OperationCanceledException or IOException)
        {
            // Nothing is promised to them.
            return;
        }

        topic.SubscribeInline((in message) => OnMessage(message.Sender));
        Publish(topic);
    }

    private void Publish(ITopic<ReadOnlyMemory<byte>> topic)
    {
        if (_over.IsCancellationRequested)
        {
            return;
        }

        try
        {
            _ = topic.PublishAsync(new byte[100]);
        }
        catch (NodeExpelledException)
        {
            // The faults are theirs too.
            return;
        }

        _cluster.Simulation.After(Pace, () => Publish(topic));
    }

    private void OnMessage(NodeId sender)
    {
        if (!_parts.Exists(parts => parts.Membership.Self.Id == sender.Id))
        {
            _foreign ??= sender;
        }
    }
}
