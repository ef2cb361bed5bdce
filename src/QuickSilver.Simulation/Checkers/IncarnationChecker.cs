using QuickSilver.Membership.Views;

namespace QuickSilver.Simulation.Checkers;

// I10, as subscribers see it. After a subscription has received a message of a new incarnation of a node, it receives none of an older
// incarnation. Nothing that an incarnation published after all live nodes had applied its removal is delivered anywhere. What it published
// before, while some node still heard it, the others may receive from that node. A node always receives its own messages.
internal sealed class IncarnationChecker : HistoryChecker
{
    private readonly Dictionary<(long Subscription, ulong NodeId), NodeKey> _heard = [];
    private readonly HashSet<(long Subscription, NodeKey Old)> _superseded = [];
    // The live nodes, and the nodes that each of them knows as alive.
    private readonly Dictionary<NodeKey, HashSet<NodeKey>> _directories = [];
    // The nodes that were removed everywhere, and when the last node learned of it.
    private readonly Dictionary<NodeKey, TimeSpan> _removed = [];
    private readonly HashSet<MessageId> _late = [];
    private readonly Dictionary<long, NodeKey> _listeners = [];

    public override string Invariant => "I10";

    public override void On(in Configured configured)
    {
        if (!_directories.TryGetValue(configured.Life, out var directory) || configured.Change.IsSnapshot)
        {
            _directories[configured.Life] = directory = [];
        }

        directory.ExceptWith(configured.Change.Removed);
        foreach (var joined in configured.Change.Joined)
        {
            directory.Add(joined.Key);
            // A member that comes back from another service is removed and joins again.
            _removed.Remove(joined.Key);
        }

        foreach (var gone in configured.Change.Removed)
        {
            if (!directory.Contains(gone))
            {
                _removed.TryAdd(gone, TimeSpan.MaxValue);
            }
        }

        Consider(configured.At);
    }

    public override void OnStopped(TimeSpan at, int node, NodeKey life)
    {
        _directories.Remove(life);
        Consider(at);
    }

    public override void On(in Activated activated) => _listeners[activated.Subscription.Number] = activated.Life;

    public override void On(in Published published)
    {
        if (_removed.TryGetValue(published.Message.Sender, out var at) && published.At > at)
        {
            _late.Add(published.Message);
        }
    }

    public override void On(in Delivered delivered)
    {
        var sender = delivered.Message.Sender;
        if (_late.Contains(delivered.Message) && _listeners.GetValueOrDefault(delivered.Subscription.Number) != sender)
        {
            string when = $"published after all had applied its sender's removal ({_removed[sender]:c})";
            Violate(delivered.At, $"{delivered.Subscription} received {delivered.Message}, {when}.");
        }

        long subscription = delivered.Subscription.Number;
        if (_superseded.Contains((subscription, sender)))
        {
            var newer = _heard[(subscription, sender.Id)];
            string when = $"after a message of {newer}, a newer incarnation of that node";
            Violate(delivered.At, $"{delivered.Subscription} received {delivered.Message} {when}.");
            return;
        }

        if (_heard.TryGetValue((subscription, sender.Id), out var heard) && heard != sender)
        {
            _superseded.Add((subscription, heard));
        }

        _heard[(subscription, sender.Id)] = sender;
    }

    private void Consider(TimeSpan at)
    {
        foreach (var gone in _removed.Where(removal => removal.Value == TimeSpan.MaxValue).Select(removal => removal.Key).ToArray())
        {
            if (!_directories.Any(known => known.Key != gone && known.Value.Contains(gone)))
            {
                _removed[gone] = at;
            }
        }
    }
}
