using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Ordering.Credit;

// Credit per topic, at the sender: the number up to which each member takes messages of each topic. The smallest limit of the members
// applies, and only to that topic. A limit that its member does not repeat is removed: the member may have been removed, or its packet that
// lifts the limit was lost. If the member still has no room, messages wait at the member until it sends the limit again.
//
// What goes wrong: an attacker speaks in the name of a member, and stops a topic. So where packets are sealed, a credit is sealed under the
// key of a view that the member shares with the sender, and concerns the topics that go to that view's region: a node that has that key
// could stop these topics anyway.
internal sealed class CreditLimits(IOrderingNode node)
{
    // Several intervals of the receiver's repetition (SlowReaders).
    private static readonly TimeSpan Forgotten = TimeSpan.FromSeconds(3);
    // More in the log would add nothing.
    private const int MostNamed = 64;
    private static readonly TimeSpan LookInterval = TimeSpan.FromSeconds(1);

    private readonly Dictionary<ulong, Dictionary<NodeKey, Limit>> _topics = [];
    // The topics of which the log has said that they are held to a rate.
    private readonly SortedSet<ulong> _named = [];
    private volatile PacedTopic[] _paced = [];
    private Alarm? _look;

    /// <summary>
    /// The topics that are held to the rate of a reader, by their ids, as of the last second. One whose reader takes nothing is among the
    /// stalls instead. From any thread.
    /// </summary>
    public IReadOnlyList<PacedTopic> Paced => _paced;

    /// <summary>The topics for which a member has sent a limit, or has lifted one a moment ago.</summary>
    public int Count => _topics.Count;

    /// <summary>Processes a credit packet of a member.</summary>
    public DropReason OnPacket(in PacketHeader header, NodeKey from)
    {
        var body = header.Body;
        if (!CreditPacket.TryRead(body, out int count))
        {
            return DropReason.Malformed;
        }

        ulong? region = node.Context.Options.IsSealed && from != node.Context.Self ? header.Region : null;
        if (region is not null && !node.SendsTo(from, header.Region, header.View))
        {
            return DropReason.NotMember;
        }

        bool isAny = false;
        for (int i = 0; i < count; i++)
        {
            var (topic, through) = CreditPacket.Entry(body, i);
            if (node.IsRoutedTo(topic, from, region))
            {
                isAny = true;
                var now = node.Context.Environment.Now;
                Set(topic, from, new Limit(through, header.Sequence, now, now, CreditRate.Begin(through, now)));
            }
        }

        return isAny ? DropReason.None : DropReason.NotMember;
    }

    /// <summary>Called when a member was removed: its limits no longer apply.</summary>
    public void OnNodeGone(NodeKey member)
    {
        if (_topics.Count > 0)
        {
            RemoveWhere((key, _) => key == member);
        }
    }

    /// <summary>The member with the smallest limit for the topic; null if no member has a limit.</summary>
    public PacedTopic? SlowestOf(ulong topic)
    {
        PacedTopic? slowest = null;
        var now = node.Context.Environment.Now;
        foreach (var (member, limit) in _topics.GetValueOrDefault(topic) ?? [])
        {
            if (limit.Through != CreditPacket.Unlimited && (slowest is null || limit.Through < slowest.Value.Through))
            {
                slowest = new PacedTopic(topic, member, limit.Through, limit.Since, limit.Rate.Of(limit.Through, now));
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

            limit = known.Through == CreditPacket.Unlimited || limit.Through == CreditPacket.Unlimited
                ? limit
                : limit with { Since = known.Since, Rate = known.Rate.With(limit.Through, limit.At) };
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
        NotePaced();
        if (_topics.Count > 0)
        {
            node.Context.Environment.Schedule(_look!, LookInterval);
        }
    }

    private void NotePaced()
    {
        var now = node.Context.Environment.Now;
        _paced =
        [
            .. _topics.Keys.Order().Select(SlowestOf).OfType<PacedTopic>()
                .Where(paced => now - paced.Since >= node.Context.Options.StallWarning && paced.Rate > 0)
                .Select(paced => paced with
                {
                    Name = node.NameOf(paced.TopicId),
                    SinceUtc = node.Context.Environment.UtcNow - (now - paced.Since),
                }),
        ];
        foreach (var paced in _paced)
        {
            if (_named.Count < MostNamed && _named.Add(paced.TopicId))
            {
                var reader = node.Context.Named(paced.Member);
                MulticastLog.TopicPaced(node.Context.Log, LabelOf(paced.TopicId), reader, paced.Rate);
            }
        }

        foreach (ulong topic in _named.Where(topic => SlowestOf(topic) is null).ToList())
        {
            _named.Remove(topic);
            MulticastLog.TopicNotPaced(node.Context.Log, LabelOf(topic));
        }
    }

    private string LabelOf(ulong topic) => node.NameOf(topic) is { } name ? $"topic \"{name}\"" : $"topic {topic:x}";

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

    private readonly record struct Limit(long Through, long Stamp, TimeSpan At, TimeSpan Since, CreditRate Rate);
}
