using QuickSilver.Membership.Views;

namespace QuickSilver.Simulation.Checkers;

// I10, as a subscriber sees it: once it was given something of a node's new life, nothing of an older one comes any more.
internal sealed class IncarnationChecker : HistoryChecker
{
    private readonly Dictionary<(long Subscription, ulong NodeId), NodeKey> _heard = [];
    private readonly HashSet<(long Subscription, NodeKey Old)> _superseded = [];

    public override string Invariant => "I10";

    public override void On(in Delivered delivered)
    {
        var sender = delivered.Message.Sender;
        long subscription = delivered.Subscription.Number;
        if (_superseded.Contains((subscription, sender)))
        {
            var newer = _heard[(subscription, sender.Id)];
            Violate(delivered.At, $"{delivered.Subscription} was given {delivered.Message} after a newer life of that node, {newer}.");
            return;
        }

        if (_heard.TryGetValue((subscription, sender.Id), out var heard) && heard != sender)
        {
            _superseded.Add((subscription, heard));
        }

        _heard[(subscription, sender.Id)] = sender;
    }
}
