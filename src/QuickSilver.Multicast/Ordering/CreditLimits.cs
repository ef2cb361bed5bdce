using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Ordering;

// Credit by topic, at the sender: which members take how much of which topic. The least counts, for this topic alone. What a member
// does not repeat is forgotten, as it may have been removed, or its word that there is room again was lost: messages
// that it has no room for then wait there, until it says so anew.
internal sealed class CreditLimits(IOrderingNode node)
{
    // Some repeats of the receiver's (SlowReaders).
    private static readonly TimeSpan Forgotten = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan LookInterval = TimeSpan.FromSeconds(1);

    private readonly Dictionary<ulong, Dictionary<NodeKey, Limit>> _topics = [];
    private Alarm? _look;

    /// <summary>Topics of which some member takes no more for now.</summary>
    public int Count => _topics.Count;

    /// <summary>Takes a member's packet.</summary>
    public DropReason OnPacket(NodeKey from, long stamp, ReadOnlySpan<byte> body)
    {
        if (!CreditPacket.TryRead(body, out int count))
        {
            return DropReason.Malformed;
        }

        bool isAny = false;
        for (int i = 0; i < count; i++)
        {
            var (topic, through) = CreditPacket.Entry(body, i);
            if (node.IsRoutedTo(topic, from))
            {
                isAny = true;
                Set(topic, from, new Limit(through, stamp, node.Context.Environment.Now, node.Context.Environment.Now));
            }
        }

        return isAny ? DropReason.None : DropReason.NotMember;
    }

    /// <summary>It was removed: nobody waits for it.</summary>
    public void OnNodeGone(NodeKey member)
    {
        if (_topics.Count > 0)
        {
            RemoveWhere((key, _) => key == member);
        }
    }

    /// <summary>The member that takes the least of the topic, up to which number, and since when; null: all take any.</summary>
    public (NodeKey Member, long Through, TimeSpan Since)? SlowestOf(ulong topic)
    {
        (NodeKey, long Through, TimeSpan)? slowest = null;
        foreach (var (member, limit) in _topics.GetValueOrDefault(topic) ?? [])
        {
            if (limit.Through != CreditPacket.Unlimited && (slowest is null || limit.Through < slowest.Value.Through))
            {
                slowest = (member, limit.Through, limit.Since);
            }
        }

        return slowest;
    }

    public void Close() => node.Context.Environment.CancelIfMade(_look);

    private void Set(ulong topic, NodeKey member, Limit limit)
    {
        if (!_topics.TryGetValue(topic, out var members))
        {
            _topics.Add(topic, members = []);
        }

        if (members.TryGetValue(member, out var known))
        {
            if (known.Stamp >= limit.Stamp)
            {
                return;
            }

            limit = known.Through != CreditPacket.Unlimited ? limit with { Since = known.Since } : limit;
        }

        members[member] = limit;
        Apply(topic);
        _look ??= new Alarm(ForgetOld);
        if (!_look.IsPending)
        {
            node.Context.Environment.Schedule(_look, LookInterval);
        }
    }

    private void ForgetOld()
    {
        var old = node.Context.Environment.Now - Forgotten;
        RemoveWhere((_, limit) => limit.At <= old);
        if (_topics.Count > 0)
        {
            node.Context.Environment.Schedule(_look!, LookInterval);
        }
    }

    private void RemoveWhere(Func<NodeKey, Limit, bool> isOver)
    {
        foreach (ulong topic in _topics.Keys.Order().ToList())
        {
            var members = _topics[topic];
            var over = members.Where(one => isOver(one.Key, one.Value)).Select(one => one.Key).ToList();
            over.ForEach(member => members.Remove(member));
            if (over.Count > 0)
            {
                Apply(topic);
            }

            if (members.Count == 0)
            {
                _topics.Remove(topic);
            }
        }
    }

    private void Apply(ulong topic) => node.SetCredit(topic, SlowestOf(topic)?.Through ?? CreditPacket.Unlimited);

    private readonly record struct Limit(long Through, long Stamp, TimeSpan At, TimeSpan Since);
}
