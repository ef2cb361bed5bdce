using QuickSilver.Endpoints;
using QuickSilver.Endpoints.Subscriptions;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Topics;

// The endpoints of a topic that end in order.
//
// Intuition: an endpoint must get what was acknowledged for it, and nothing more. Application: if no other endpoint of this node
// subscribes, the node leaves the topic's view, and the receiver stays open until all that was sent in the views of before has come. If
// others continue, the node stays in the view, and the endpoint gets exactly what has come by now and waits for room: a range for each
// sender.
//
// Invariant: while the node leaves the view, no other endpoint of the topic subscribes. Openings that do are postponed.
internal sealed class Departures
{
    private readonly List<Departure> _all = [];

    public int Count => _all.Count;

    /// <summary>Whether the node leaves the topic's view.</summary>
    public bool IsLeavingView { get; set; }

    /// <summary>Whether it was asked when the service has applied that.</summary>
    public bool IsAsked { get; set; }

    /// <summary>The openings that subscribe, and that wait until the node has left.</summary>
    public List<TopicOpening> Postponed { get; } = [];

    /// <summary>
    /// What comes although all endpoints have ended, because the node cannot leave the view: no service answers. Null until then.
    /// </summary>
    public UnhandledMessages? Strays { get; set; }

    public TopicEndpoint[] Endpoints => [.. _all.Select(static one => one.Endpoint)];

    public bool Has(TopicEndpoint endpoint) => Find(endpoint) is not null;

    /// <summary>Adds an endpoint that gets all that comes until the node has left the view.</summary>
    public void Add(TopicEndpoint endpoint, Action completed) => _all.Add(new Departure(endpoint, completed));

    /// <summary>The endpoint gets these messages only. False: there are none.</summary>
    public bool TryLimit(TopicEndpoint endpoint, IReadOnlyList<UntakenRange> wanted)
    {
        var departure = Find(endpoint)!;
        departure.Wanted = wanted.ToDictionary(static range => range.Sender, static range => (range.First, range.Last));
        return wanted.Count > 0;
    }

    /// <summary>Whether the endpoint does not get this message any more.</summary>
    public bool IsPast(TopicEndpoint endpoint, in DeliveredMessage message) =>
        Find(endpoint)?.Wanted is { } wanted
        && !(wanted.TryGetValue(message.Sender, out var range) && message.Sequence >= range.First && message.Sequence <= range.Last);

    /// <summary>The endpoint has all of a sender's messages up to a number. True if it has all now that it gets.</summary>
    public bool OnTaken(TopicEndpoint endpoint, NodeKey sender, long through)
    {
        if (Find(endpoint)?.Wanted is not { } wanted || !wanted.TryGetValue(sender, out var range))
        {
            return false;
        }

        if (through < range.Last)
        {
            wanted[sender] = (Math.Max(range.First, through + 1), range.Last);
            return false;
        }

        wanted.Remove(sender);
        return wanted.Count == 0;
    }

    /// <summary>Removes the endpoint. Returns whom to call, and what it does not get.</summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="untaken">What has come to the topic's receiver and was not taken.</param>
    public (Action Completed, GapNotice[] Untaken) Remove(TopicEndpoint endpoint, IReadOnlyList<UntakenRange> untaken)
    {
        var departure = Find(endpoint)!;
        _all.Remove(departure);
        var left = departure.Wanted is { } wanted
            ? wanted.Select(static one => new UntakenRange(one.Key, one.Value.First, one.Value.Last))
            : untaken;
        return (departure.Completed, [.. left.Select(static range => GapOf(range, GapReason.SubscriberEnded))]);
    }

    public static GapNotice GapOf(UntakenRange range, GapReason reason) =>
        new(new NodeId(range.Sender.Id, range.Sender.Incarnation), range.First, range.Last, reason);

    private Departure? Find(TopicEndpoint endpoint) => _all.Find(one => one.Endpoint == endpoint);

    private sealed class Departure(TopicEndpoint endpoint, Action completed)
    {
        public TopicEndpoint Endpoint => endpoint;

        public Action Completed => completed;

        // By sender, the messages that it still gets. Null: all.
        public Dictionary<NodeKey, (long First, long Last)>? Wanted { get; set; }
    }
}
