using QuickSilver.Core.Alarms;
using QuickSilver.Multicast.Protocols;

namespace QuickSilver.Groups.Protocol;

// Whether this node is in the primary partition as far as it knows: the part of a divided network that the membership service hears (002,
// figure 1). When the service has been silent for its heartbeat limit, it may have removed this node, and others may have a view without
// it. Then what arrives here may belong to a part that is not the primary one, and waits. A node that was removed ends, so what waits is
// passed only if the node was a member all the time.
internal sealed class PrimaryPartition(IProtocolNode node, Action resume)
{
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(20);

    // Pending while something waits.
    private Alarm? _alarm;

    /// <summary>Whether something waits.</summary>
    public bool IsWaiting { get; private set; }

    /// <summary>Called before something is passed: whether it must wait.</summary>
    public bool IsLeft()
    {
        IsWaiting = !node.IsServiceHeard;
        if (IsWaiting)
        {
            _alarm ??= new Alarm(OnLook);
            if (!_alarm.IsPending)
            {
                node.Environment.Schedule(_alarm, Look);
            }
        }

        return IsWaiting;
    }

    public void Close()
    {
        if (_alarm is not null)
        {
            node.Environment.Cancel(_alarm);
        }
    }

    private void OnLook()
    {
        if (!IsLeft())
        {
            resume();
        }
    }
}
