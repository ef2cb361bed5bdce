using QuickSilver.Core.Environment;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Topics;

// The topics of one guarantee of a node, seen by the simulation: it notes what is delivered, and delays topics of a sender against each
// other, each with numbers of its own, so that one topic does not change the fate of another.
internal sealed class WatchedTopics(ITopicProtocol protocol, INodeEnvironment environment, WatchedTopics.Settings settings) : ITopicProtocol
{
    public IReadOnlyList<ProtocolCounter> Counters => protocol.Counters;

    public ITopicSender OpenPublisher(in ProtocolTopic topic)
    {
        var sender = protocol.OpenPublisher(topic);
        return settings.LongestDelay <= TimeSpan.Zero
            ? sender
            : new DelayedSender(sender, environment, SeededRandom.Derive(settings.Seed, purpose: 15, topic.Id), settings.LongestDelay);
    }

    public ITopicReceiver OpenSubscription(in ProtocolTopic topic, IDeliverySink sink)
    {
        if (settings.Deliveries is not { } deliveries)
        {
            return protocol.OpenSubscription(topic, sink);
        }

        var watched = new WatchedReceiver(sink, deliveries());
        watched.Receiver = protocol.OpenSubscription(topic, watched);
        return watched;
    }

    public void OnConfiguration() => protocol.OnConfiguration();

    public void AddWaits(List<IProtocolWait> waits) => protocol.AddWaits(waits);

    public void AddSigns(List<ProtocolSnapshot> signs) => protocol.AddSigns(signs);

    public void Close() => protocol.Close();

    /// <param name="Seed">The numbers of the node's process.</param>
    /// <param name="LongestDelay">Zero: no topic is delayed.</param>
    /// <param name="Deliveries">Null: they are not noted.</param>
    internal readonly record struct Settings(ulong Seed, TimeSpan LongestDelay, Func<Deliveries>? Deliveries);
}
