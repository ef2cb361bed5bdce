using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers;

// T13: rights of access. No node delivers anything of a publisher without the right, and a node without the right to subscribe to a
// topic is never let in, and delivers nothing of it. Machines keep their identities, and identities their rights.
internal sealed class RightsChecker : HistoryChecker
{
    private readonly Dictionary<NodeKey, int> _machines = [];

    public override string Invariant => "T13";

    /// <summary>Whether a machine may publish in a topic.</summary>
    public required Func<int, ulong, bool> MayPublish { get; init; }

    /// <summary>Whether a machine may subscribe to a topic.</summary>
    public required Func<int, ulong, bool> MaySubscribe { get; init; }

    public override void On(in Configured configured) => _machines[configured.Life] = configured.Node;

    public override void On(in Activated activated)
    {
        var subscription = activated.Subscription;
        if (!MaySubscribe(subscription.Node, subscription.Topic))
        {
            Violate(activated.At, $"{subscription} was let in, although its node may not subscribe to topic {subscription.Topic:x16}.");
        }
    }

    public override void On(in Delivered delivered)
    {
        var (subscription, message) = (delivered.Subscription, delivered.Message);
        if (!MaySubscribe(subscription.Node, subscription.Topic))
        {
            Violate(delivered.At, $"{subscription} received {message}, although its node may not subscribe to the topic.");
        }

        if (_machines.TryGetValue(message.Sender, out int sender) && !MayPublish(sender, message.Topic))
        {
            Violate(delivered.At, $"{subscription} received {message}, although node {sender} may not publish in the topic.");
        }
    }
}
