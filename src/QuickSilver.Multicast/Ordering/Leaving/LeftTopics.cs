using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;

namespace QuickSilver.Multicast.Ordering.Leaving;

// Subscriptions whose topic this node has left in order, and that still take what was sent to them.
//
// Intuition: a sender continues to send to this node until it has the configuration in which this node has left. Application: when all
// nodes have settled that configuration, each sender has moved its topics to the new views, so nothing more is sent to the subscription.
// When the old views of this node have no unread packet either, everything was handed up. What goes wrong: the service does not answer, or
// a member does not settle (a caller that waits has a limit of its own and closes the subscription).
internal sealed class LeftTopics
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(5);

    private readonly INodeEnvironment _environment;
    private readonly Predicate<long> _isSettled;
    private readonly Predicate<long> _hasAll;
    private readonly List<Wait> _waits = [];
    private readonly Alarm _check;

    /// <param name="environment">The node's.</param>
    /// <param name="isSettled">Whether no node sends in a view any more that this configuration superseded.</param>
    /// <param name="hasAll">Whether all that was sent in those views was handed up.</param>
    public LeftTopics(INodeEnvironment environment, Predicate<long> isSettled, Predicate<long> hasAll)
    {
        _environment = environment;
        _isSettled = isSettled;
        _hasAll = hasAll;
        _check = new Alarm(Check);
    }

    public void Add(TopicReceiver receiver, long configuration, Action settled, Action completed)
    {
        _waits.Add(new Wait(receiver, configuration, settled, completed));
        _environment.Cancel(_check);
        _environment.Schedule(_check, TimeSpan.Zero);
    }

    public void Close() => _environment.Cancel(_check);

    private void Check()
    {
        // A copy, because a callback may close a subscription or leave another topic.
        foreach (var wait in _waits.ToArray())
        {
            if (wait.Receiver.IsClosed || wait.TryFinish(_isSettled, _hasAll))
            {
                _waits.Remove(wait);
            }
        }

        if (_waits.Count > 0 && !_check.IsPending)
        {
            _environment.Schedule(_check, Interval);
        }
    }

    private sealed class Wait(TopicReceiver receiver, long configuration, Action settled, Action completed)
    {
        private bool _isSettled;

        public TopicReceiver Receiver => receiver;

        public bool TryFinish(Predicate<long> isSettled, Predicate<long> hasAll)
        {
            if (!_isSettled && isSettled(configuration))
            {
                _isSettled = true;
                settled();
            }

            if (!_isSettled || receiver.IsClosed || !hasAll(configuration))
            {
                return false;
            }

            completed();
            return true;
        }
    }
}
