using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers.Deliveries;

// I1: the messages of a sender that a subscription delivers are contiguous from the first one on, unless a gap notice reports the missing
// numbers before the next message is delivered. A notice must be correct: its numbers were not delivered before.
internal sealed class NoGapChecker : HistoryChecker
{
    private readonly Dictionary<(long Subscription, NodeKey Sender), long> _next = [];

    public override string Invariant => "I1";

    public override void On(in Delivered delivered)
    {
        var key = (delivered.Subscription.Number, delivered.Message.Sender);
        long number = delivered.Message.Sequence;
        if (_next.TryGetValue(key, out long next) && number > next)
        {
            Violate(
                delivered.At,
                $"{delivered.Subscription} received {delivered.Message}, but not {next} to {number - 1}, and no notice reports them.");
        }

        _next[key] = Math.Max(number + 1, next);
    }

    public override void On(in GapReported gap)
    {
        var key = (gap.Subscription.Number, gap.Sender);
        if (gap.First > gap.Last)
        {
            Violate(gap.At, $"{gap.Subscription} was notified of an empty gap from {gap.First} to {gap.Last} of {gap.Sender}.");
            return;
        }

        if (_next.TryGetValue(key, out long next) && gap.First != next)
        {
            string why = gap.First < next
                ? $"had received up to {next - 1}"
                : $"{next} to {gap.First - 1} are neither received nor reported";
            Violate(gap.At, $"{gap.Subscription} was notified of a gap from {gap.First} to {gap.Last} of {gap.Sender}, but {why}.");
        }

        _next[key] = Math.Max(gap.Last + 1, next);
    }
}
