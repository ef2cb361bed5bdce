using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;
using QuickSilver.Endpoints.Changes;
using QuickSilver.Membership.Views;

namespace QuickSilver.Topics.Subscribers;

// What the application wants to know of a topic's subscribers: that there are enough of them, which they are, or which come and leave.
// Most topics have none of it, so a topic creates it when it is first asked. Core thread only, unless stated otherwise.
internal sealed class SubscriberInterest(ITopicNode node, TopicCore topic) : ISubscriberInterest
{
    private readonly SubscriberWaits _waits = new();
    private readonly List<(TopicEndpoint Endpoint, SubscriberWatch Watch)> _watches = [];
    private volatile SubscriberSet _current = SubscriberSet.Empty;
    private bool _isFollowed;
    private volatile bool _isKnown;
    private Action? _changed;

    public SubscriberSet Current => _current;

    public bool IsKnown => _isKnown;

    /// <summary>The calls that wait for subscribers. A cancelled one is removed at the next call.</summary>
    public IReadOnlyList<SubscriberWait> Waits => _waits.Open;

    /// <summary>Whether it can be forgotten.</summary>
    public bool IsIdle => !_isFollowed && Waits.Count == 0;

    public void Follow(Action? changed = null)
    {
        _changed += changed;
        if (!_isFollowed)
        {
            _isFollowed = true;
            node.Follow(this);
            Refresh();
        }
    }

    /// <summary>Called when the topic has a new view.</summary>
    public void OnSubscribers() => _waits.OnSubscribers(topic.Subscribers);

    public void Await(TopicEndpoint endpoint, int count, TaskCompletionSource done)
    {
        if (EndOf(endpoint) is { } end)
        {
            done.TrySetException(end);
            return;
        }

        _waits.Add(new SubscriberWait(endpoint, count, done));
        OnSubscribers();
        if (Waits.Count > 0)
        {
            node.OnWait();
        }
    }

    public void Add(TopicEndpoint endpoint, SubscriberWatch watch)
    {
        if (EndOf(endpoint) is { } end)
        {
            watch.End(endpoint.State == EndpointState.Failed ? end : null);
            return;
        }

        Follow();
        _watches.Add((endpoint, watch));
        watch.Notify(SubscriberSet.Empty, _current, SubscriberChangeReason.Present, WhyLeft);
    }

    public void Remove(SubscriberWatch watch) => _watches.RemoveAll(one => ReferenceEquals(one.Watch, watch));

    /// <summary>Called after each configuration.</summary>
    public void Refresh()
    {
        var before = _current;
        var view = node.ViewOf(topic.Id);
        var after = SetOf(view);
        bool isChanged = !before.Nodes.SequenceEqual(after.Nodes);
        _current = isChanged ? after : before;
        // Not before the set: a reader that finds it known reads the set.
        _isKnown |= view is not null;
        if (!isChanged)
        {
            return;
        }

        foreach (var (_, watch) in _watches)
        {
            watch.Notify(before, after, SubscriberChangeReason.Subscribed, WhyLeft);
        }

        _changed?.Invoke();
    }

    public void OnEndpointEnded(TopicEndpoint endpoint, Exception reason)
    {
        _waits.Fail(endpoint, reason);
        _watches.RemoveAll(one =>
        {
            if (!ReferenceEquals(one.Endpoint, endpoint))
            {
                return false;
            }

            one.Watch.End(endpoint.State == EndpointState.Failed ? reason : null);
            return true;
        });
    }

    public void Close()
    {
        if (_isFollowed)
        {
            node.Unfollow(this);
        }
    }

    // Null while the endpoint is open.
    private static Exception? EndOf(TopicEndpoint endpoint) => endpoint.State < EndpointState.Cancelled
        ? null
        : endpoint.EndReason ?? AfterDispose.OfTopic(endpoint.Name);

    private SubscriberChangeReason WhyLeft(NodeId subscriber) => node.IsMember(new NodeKey(subscriber.Id, subscriber.Incarnation))
        ? SubscriberChangeReason.Unsubscribed
        : SubscriberChangeReason.NodeLeft;

    // The members of a region all subscribe to the topics that have the region.
    private SubscriberSet SetOf(TopicView? view)
    {
        var nodes = new List<NodeId>();
        foreach (ulong region in view?.Regions ?? [])
        {
            foreach (var member in node.RegionOf(region)?.Members ?? [])
            {
                nodes.Add(new NodeId(member.Id, member.Incarnation));
            }
        }

        nodes.Sort(SubscriberSet.Order);
        return nodes.Count == 0 ? SubscriberSet.Empty : new SubscriberSet([.. nodes]);
    }
}
