using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Flow;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Ordering;
using QuickSilver.Multicast.Ordering.Credit;
using QuickSilver.Multicast.Ordering.Pinned;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Stalls;

// Collects everything that a node's multicast may wait for: streams that wait for acknowledgements, publishers that wait for room,
// receivers that wait for repairs or for earlier messages, readers without room, and views of pinned topics. The watch asks for the list
// only while something may wait.
internal sealed class NodeWaits
{
    // The limit of the list. If more wait, the first ones are enough to find the reason.
    private const int Most = 64;
    // The members that a reason names beside the one that is waited for.
    private const int MostOthers = 3;

    private readonly NodeContext _context;
    private readonly IWaitSources _sources;
    private readonly StallWatch _watch;
    private readonly List<AwaitedMessage> _overdue = [];

    public NodeWaits(NodeContext context, IWaitSources sources)
    {
        _context = context;
        _sources = sources;
        _watch = new StallWatch(context.Environment, context.Options.StallWarning, Collect, OnBegan, OnEnded);
    }

    public int Stalled => _watch.Stalled;

    public void Look() => _watch.Look();

    public void OnPause(TimeSpan length) => _watch.OnPause(length);

    public void Close() => _watch.Close();

    /// <summary>What a topic without room waits for, in words; null if it has room.</summary>
    public string? WhyWaiting(TopicSender topic) => topic.IsClosed || topic.HasRoom ? null : WhyNoRoom(topic).What;

    /// <summary>What a stream with packets that are not acknowledged waits for, in words.</summary>
    public string WhyUnacknowledged(ISentStream stream) => WhyUnstable(stream).What;

    private bool IsNotable => RepeatedEvent.IsLogged(_context.Counters.Stalls);

    private static string Seconds(TimeSpan time) =>
        string.Create(System.Globalization.CultureInfo.InvariantCulture, $"{time.TotalSeconds:0.0} s");

    private void OnBegan(object of, TimeSpan time)
    {
        _context.Counters.Stalls++;
        var (kind, what, waitsFor) = Describe(of);
        string why = $"{what}. It has waited for {Seconds(time)}";
        _context.Troubles.Begin(of, new Trouble(kind, why + ".", _context.Environment.UtcNow - time, waitsFor));
        if (IsNotable)
        {
            MulticastLog.Stalled(_context.Log, why, _context.Counters.Stalls);
        }

        if (of is AwaitedMessage message)
        {
            _overdue.Add(message);
            message.EndIfLost();
        }
    }

    private void OnEnded(object of, TimeSpan time)
    {
        _context.Troubles.End(of);
        if (of is AwaitedMessage message)
        {
            _overdue.Remove(message);
        }

        if (IsNotable)
        {
            MulticastLog.StallOver(_context.Log, time);
        }
    }

    private void Collect(List<Wait> waits)
    {
        // What an older view might have brought, it cannot bring any more when it is closed.
        foreach (var message in _overdue.ToArray())
        {
            message.EndIfLost();
        }

        foreach (var stream in _sources.Sent.Retired)
        {
            Add(waits, stream);
        }

        foreach (var stream in _sources.Sent.Current)
        {
            Add(waits, stream);
        }

        Add(waits, _sources.WaitingTopics);
        foreach (var stream in _sources.Sent.Current)
        {
            Add(waits, stream.Waiting);
        }

        foreach (var region in _sources.OpenRegions)
        {
            foreach (var stream in region.Streams)
            {
                if (waits.Count < Most && stream.IsReliable && stream.Missing.Count > 0)
                {
                    waits.Add(new Wait(stream, stream.Contiguous));
                }
            }
        }

        foreach (var views in _sources.WaitingViews)
        {
            if (waits.Count < Most)
            {
                waits.Add(new Wait(views, views.Progress));
            }
        }

        foreach (var message in _sources.AwaitedMessages)
        {
            if (waits.Count < Most)
            {
                waits.Add(new Wait(message, message.Order.Next));
            }
        }

        _sources.SlowReaders.AddBlocked(waits, Most);
    }

    private static void Add(List<Wait> waits, IReadOnlyCollection<IFeed> topics)
    {
        foreach (var feed in topics)
        {
            if (waits.Count < Most && feed is TopicSender { IsClosed: false, HasRoom: false } topic)
            {
                waits.Add(new Wait(topic, topic.Sent));
            }
        }
    }

    private static void Add(List<Wait> waits, ISentStream stream)
    {
        if (waits.Count < Most && IsWaiting(stream))
        {
            // Not what the stream sends: a publisher that continues slowly would hide for hours that no member acknowledges.
            waits.Add(new Wait(stream, stream.Acknowledged + stream.Through.Consumed));
        }
    }

    // Whether a packed packet is not known to be held, or not known to be consumed, by all members.
    private static bool IsWaiting(ISentStream stream) => stream.IsReliable && (!stream.IsSettled || stream.AwaitsNews);

    private Why Describe(object of) => of switch
    {
        ISentStream stream => WhyUnstable(stream),
        TopicSender topic => OfPublisher(topic, WhyNoRoom(topic)),
        ConsumedStream { IsSenderGone: true } stream => new Why(
            TroubleKind.RepairMissing,
            $"{stream.View} waits for the members to agree on packet {stream.Contiguous + 1} of node {Named(stream.Sender)}, which is gone",
            "the other members of the view"),
        ConsumedStream stream => new Why(
            TroubleKind.RepairMissing,
            $"{stream.View} waits for packet {stream.Contiguous + 1} of node {Named(stream.Sender)}, which no member has sent again",
            $"node {Named(stream.Sender)}"),
        ViewSequence views => new Why(TroubleKind.ViewMissing, views.Why, "the end of the view before"),
        AwaitedMessage message => new Why(
            TroubleKind.RepairMissing,
            $"A subscription to {message.Topic.Label} waits for {message.InWords} of node {Named(message.Order.Sender)}: "
                + $"{message.Order.HeldCount} later ones are here",
            $"node {Named(message.Order.Sender)}"),
        SlowRun { Receiver.Sink.WhyFull: { } why } slow => new Why(
            TroubleKind.ProtocolWaits,
            $"A subscription to {slow.Receiver.Label} on this node has no room for messages of node {Named(slow.Order.Sender)}, which "
                + $"waits. {why}",
            null),
        SlowRun slow => new Why(
            TroubleKind.ReaderFull,
            $"A reader of {slow.Receiver.Label} on this node has no room for messages of node {Named(slow.Order.Sender)}, which waits, "
                + "and it reads none",
            $"the reader of {slow.Receiver.Label}"),
        _ => new Why(TroubleKind.ViewMissing, $"{of} waits", null),
    };

    private NamedNode Named(NodeKey node) => _context.Named(node);

    private static Why OfPublisher(TopicSender topic, Why why) =>
        why with { What = $"The publisher of {topic.Label} waits for {why.What}" };

    // The first member acknowledges for all, and this node does not learn for which of them it waits.
    private Why WhyUnstable(ISentStream stream)
    {
        var live = stream.Live;
        int rank = live.FirstIn(0, live.Ranks);
        bool isSelf = rank >= 0 && live[rank] == _context.Self;
        string others = Others(live, rank);
        string whose = rank < 0 ? "a live member"
            : !isSelf ? $"node {Named(live[rank])}"
            : others.Length == 0 ? "this node itself" : others;
        string who = rank < 0 ? "a live member, of which there is none"
            : !isSelf ? $"the acknowledgement of {whose}, which leads the rings"
            : others.Length == 0 ? "the acknowledgement that this node, which leads the rings, sends to itself over UDP"
            : $"the acknowledgement of {others}";
        string last = $"the last acknowledgement came {Seconds(stream.Silence)} ago";
        var (sent, consumed) = stream.Through;
        long next = stream.Acknowledged + 1;
        if (next > sent && consumed < sent)
        {
            return new Why(
                TroubleKind.ReaderElsewhereFull,
                $"{stream.View} waits for readers to take packet {consumed + 1} of {sent}, which all members hold; {last}",
                "readers on other nodes");
        }

        string leader = isSelf || others.Length == 0 ? "" : $". The leader waits for the acknowledgement of {others}";
        string what = next <= sent
            ? $"{stream.View} waits for {who}: {NotAll(live.Count)} known to hold packet {next} of {sent}, and {last}{leader}"
            : $"{stream.View} waits to send packet {sent + 1} of {stream.Last}";
        return new Why(TroubleKind.AcknowledgementMissing, what, whose);
    }

    // The members behind the first, but for this node; empty if there are none.
    private string Others(LiveMembers live, int first)
    {
        var others = new List<string>();
        int count = 0;
        for (int rank = first + 1; rank < live.Ranks; rank++)
        {
            if (live.IsLive(rank) && live[rank] != _context.Self && ++count <= MostOthers)
            {
                others.Add($"node {Named(live[rank])}");
            }
        }

        return string.Join(" or ", others) + (count > MostOthers ? $" or one of {count - MostOthers} more" : "");
    }

    private static string NotAll(int members) => members == 1 ? "the only member is not" : $"not all {members} members are";

    private Why WhyNoRoom(TopicSender topic)
    {
        const string Who = "the membership service";
        if (!topic.HasView)
        {
            return new Why(TroubleKind.ViewMissing, $"{Who} to say who subscribes", Who);
        }

        if (topic.UnknownRegion is { } region)
        {
            return new Why(TroubleKind.ViewMissing, $"{Who} to say who is in region {region:x}, to which the topic goes", Who);
        }

        if (topic.IsHeld)
        {
            return new Why(
                TroubleKind.ViewMissing,
                "the subscription of this node to release the flush barrier of the topic's new view",
                "the subscription of this node");
        }

        if (_sources.CreditLimits.SlowestOf(topic.TopicId) is { } slowest)
        {
            if (slowest.Member == _context.Self)
            {
                return WhyFullHere(topic, slowest.Through);
            }

            string reader = $"a reader on node {Named(slowest.Member)}";
            return new Why(
                TroubleKind.ReaderElsewhereFull, $"{reader}, which has room up to message {slowest.Through} of {topic.Sent}", reader);
        }

        foreach (var route in topic.Routes)
        {
            if (IsWaiting(route))
            {
                var why = WhyUnstable(route);
                return why with { What = $"its stream: {why.What}" };
            }
        }

        return new Why(
            TroubleKind.MemoryFull,
            $"packet memory: {_context.Environment.Buffers.FreeToSend} blocks are free for sending, of"
            + $" {_context.Environment.Buffers.Shares.MostToSend}",
            "free packet memory");
    }

    // Its own subscription has no room, or what stands in front of it.
    private Why WhyFullHere(TopicSender topic, long through)
    {
        string room = $"which has room up to message {through} of {topic.Sent}";
        var blocked = _sources.SlowReaders.Blocked.FirstOrDefault(slow => slow.Receiver.TopicId == topic.TopicId);
        return blocked?.Receiver.Sink.WhyFull is { } why
            ? new Why(TroubleKind.ProtocolWaits, $"the subscription of this node, {room}. {why}", null)
            : new Why(TroubleKind.ReaderFull, $"a reader on this node, {room}", $"the reader of {topic.Label}");
    }

    // What waits, as a sentence without its stop, and the nodes that it waits for.
    private readonly record struct Why(TroubleKind Kind, string What, string? WaitsFor);
}
