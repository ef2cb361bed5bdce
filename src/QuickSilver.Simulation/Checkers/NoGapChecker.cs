using QuickSilver.Membership.Views;

namespace QuickSilver.Simulation.Checkers;

// I1: what a subscription delivers of a sender is contiguous from where it begins, or a gap notice, told before what
// follows is delivered, says which numbers are missing. A notice must be true: about numbers not delivered before.
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
                $"{delivered.Subscription} was given {delivered.Message}, but never {next} to {number - 1}, and no notice tells of them.");
        }

        _next[key] = Math.Max(number + 1, next);
    }

    public override void On(in GapTold gap)
    {
        var key = (gap.Subscription.Number, gap.Sender);
        if (gap.First > gap.Last)
        {
            Violate(gap.At, $"{gap.Subscription} was told of an empty gap from {gap.First} to {gap.Last} of {gap.Sender}.");
            return;
        }

        if (_next.TryGetValue(key, out long next) && gap.First != next)
        {
            string why = gap.First < next ? $"had come to {next - 1}" : $"{next} to {gap.First - 1} are neither given nor told";
            Violate(gap.At, $"{gap.Subscription} was told that it lacks {gap.First} to {gap.Last} of {gap.Sender}, but {why}.");
        }

        _next[key] = Math.Max(gap.Last + 1, next);
    }
}
