using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers;

// I10, as subscribers see it. After a subscription has received a message of a new incarnation of a node, it receives none of an older
// incarnation. Nothing that an incarnation published after all nodes had applied its removal is delivered anywhere. What it published
// before, while some node still heard it, the others may receive from that node. A node always receives its own messages.
//
// A node that knows of its own removal applies no more, and its process runs for a while: it still hears whom it knows, and passes on
// what it hears to those that still know it. So it counts until none of them does, or until it runs again.
internal sealed class IncarnationChecker : HistoryChecker
{
    private readonly Dictionary<(long Subscription, ulong NodeId), NodeKey> _heard = [];
    private readonly HashSet<(long Subscription, NodeKey Old)> _superseded = [];
    // The nodes that run, and the nodes that each of them knows as alive.
    private readonly Dictionary<NodeKey, HashSet<NodeKey>> _directories = [];
    // Those of them that know of their own removal, and the number of each.
    private readonly Dictionary<NodeKey, int> _expelled = [];
    // The nodes that were removed everywhere, and when the last node learned of it.
    private readonly Dictionary<NodeKey, TimeSpan> _removed = [];
    private readonly HashSet<MessageId> _late = [];
    private readonly Dictionary<long, NodeKey> _listeners = [];

    public override string Invariant => "I10";

    public override void On(in Configured configured)
    {
        foreach (var (earlier, node) in _expelled)
        {
            if (node == configured.Node && earlier != configured.Life)
            {
                _expelled.Remove(earlier);
                _directories.Remove(earlier);
            }
        }

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

    public override void On(in Expelled expelled) => _expelled.TryAdd(expelled.Life, expelled.Node);

    public override void OnStopped(TimeSpan at, int node, NodeKey life)
    {
        if (!_expelled.ContainsKey(life))
        {
            _directories.Remove(life);
        }

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
            if (!IsHeard(gone))
            {
                _removed[gone] = at;
            }
        }
    }

    // Two that know of their removal may know each other forever, so they count only from a live node on.
    private bool IsHeard(NodeKey gone)
    {
        var hearers = new Queue<NodeKey>(_directories.Keys.Where(life => life != gone && !_expelled.ContainsKey(life)));
        var unheard = _expelled.Keys.Where(life => life != gone && _directories.ContainsKey(life)).ToHashSet();
        while (hearers.TryDequeue(out var hearer))
        {
            var directory = _directories[hearer];
            if (directory.Contains(gone))
            {
                return true;
            }

            foreach (var heard in directory.Where(unheard.Remove))
            {
                hearers.Enqueue(heard);
            }
        }

        return false;
    }
}
