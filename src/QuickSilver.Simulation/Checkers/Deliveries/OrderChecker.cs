using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers.Deliveries;

// I4: a subscription receives the messages of a sender in the order of their numbers.
internal sealed class OrderChecker : HistoryChecker
{
    private readonly Dictionary<(long Subscription, NodeKey Sender), long> _last = [];

    public override string Invariant => "I4";

    public override void On(in Delivered delivered)
    {
        var key = (delivered.Subscription.Number, delivered.Message.Sender);
        long number = delivered.Message.Sequence;
        if (_last.TryGetValue(key, out long last) && number < last)
        {
            Violate(delivered.At, $"{delivered.Subscription} received {delivered.Message} after {last}.");
        }

        _last[key] = Math.Max(number, last);
    }
}
