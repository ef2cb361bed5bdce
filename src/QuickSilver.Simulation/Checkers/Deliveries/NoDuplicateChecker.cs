using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers.Deliveries;

// I2: no subscription receives a message twice, whatever the paths by which it arrived.
internal sealed class NoDuplicateChecker : HistoryChecker
{
    private readonly Dictionary<(long Subscription, NodeKey Sender), NumberRanges> _given = [];

    public override string Invariant => "I2";

    public override void On(in Delivered delivered)
    {
        var key = (delivered.Subscription.Number, delivered.Message.Sender);
        if (!_given.TryGetValue(key, out var given))
        {
            _given[key] = given = new NumberRanges();
        }

        if (!given.Add(delivered.Message.Sequence))
        {
            Violate(delivered.At, $"{delivered.Subscription} received {delivered.Message} twice.");
        }
    }
}
