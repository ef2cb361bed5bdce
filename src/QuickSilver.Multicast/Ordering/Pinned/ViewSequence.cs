using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Ordering.Pinned;

// The sequence of views of a pinned topic at one subscription. Messages of a view are delivered after all messages that this member gets of
// the view before it, and the sink is notified of the view in between. All members that pass from one view to the next have then delivered
// the same messages in the first of them, as a process group's flush guarantees (Isis, virtual synchrony). The views of a region are
// closed: when one closes, its members have agreed on everything that was sent in it.
//
// Invariants: a view is installed when this node has delivered all messages of the view before it and none of them waits for room. Views
// are installed in the order of their configurations. While a barrier is not released, the topic's publishers on this node are held.
// While many views wait, those in which nothing was sent are skipped, so that a reader that does not read costs no memory per view.
internal sealed class ViewSequence(IReceivingNode node, TopicReceiver receiver, IDeliverySink sink, StableReports? stable)
{
    // More views than these wait only if something was sent in each of them.
    private const int MostEmpty = 16;

    private readonly List<RegionView> _coming = [];
    private RegionView? _installed;
    // Those of the installed view.
    private readonly MembersByAge _members = new();
    private readonly FlushBarriers _barriers = new(isHeld => node.SetHeld(receiver.TopicId, isHeld));
    // The configuration of the newest view received.
    private long _last;
    private bool _isInstalling;
    private bool _isClosed;

    public ulong TopicId => receiver.TopicId;

    /// <summary>Reports what is stable; null: the subscription does not ask for it.</summary>
    public StableReports? Stable => stable;

    /// <summary>Whether a barrier is not released yet.</summary>
    public bool IsHeld => _barriers.IsHeld;

    /// <summary>Whether a view waits for the one before it.</summary>
    public bool IsWaiting => _coming.Count > 0;

    /// <summary>The configuration of the view that is installed; 0 before the first.</summary>
    public long Configuration => _installed?.Configuration ?? 0;

    /// <summary>A number that grows while the next view comes nearer: readers that take what was sent before it are progress.</summary>
    public long Progress => Configuration + (receiver.IsAnyBlocked ? receiver.Taken : 0);

    /// <summary>A text that shows what the next view waits for.</summary>
    public string Why => receiver.IsAnyBlocked
        ? $"A view of {receiver.Label} waits for a reader on this node to take what was sent before it"
        : !sink.HasRoomForView
        ? $"A view of {receiver.Label} waits for the subscription of this node to pass on the views before it"
        : $"A view of {receiver.Label} waits for all of {_installed}: for its senders to settle it, or for its members to agree on it";

    /// <summary>Whether the view is not installed yet.</summary>
    public bool IsAhead(RegionView view) => _installed is null || view.Configuration > _installed.Configuration;

    /// <summary>Whether the view is one of the topic's region: that which is installed, or one that comes.</summary>
    public bool IsOfTopic(RegionView view) => view.RegionId == (_installed ?? (_coming is [var first, ..] ? first : null))?.RegionId;

    /// <summary>Called when the topic's region has a new view, of which this node is a member.</summary>
    public void OnView(RegionView view)
    {
        if (view.Configuration <= _last)
        {
            return;
        }

        bool isFirst = _last == 0;
        _last = view.Configuration;
        if (_coming.Count >= MostEmpty)
        {
            // A view with messages that wait is not over.
            _coming.RemoveAll(IsOver);
        }

        _coming.Add(view);
        if (!isFirst)
        {
            BeginFlush(view.Configuration);
        }

        TryInstall();
        if (IsWaiting)
        {
            node.Context.OnWait();
        }
    }

    /// <summary>Called when views may be over, or messages that waited for room were delivered.</summary>
    public void TryInstall()
    {
        if (_isInstalling)
        {
            return;
        }

        _isInstalling = true;
        while (!_isClosed && _coming is [var next, ..] && IsOver(_installed) && !receiver.IsAnyBlocked && sink.HasRoomForView)
        {
            _coming.RemoveAt(0);
            Install(next);
        }

        _isInstalling = false;
    }

    /// <summary>Called when the subscription is closed.</summary>
    public void Close()
    {
        _isClosed = true;
        _coming.Clear();
        _barriers.Close();
    }

    private bool IsOver(RegionView? view) => view is null || node.IsOver(view);

    private void Install(RegionView view)
    {
        receiver.OnViewEnds();
        _installed = view;
        try
        {
            sink.OnView(_members.Pass(TopicId, view));
        }
        catch (Exception)
        {
            node.Context.Counters.SinkExceptions++;
        }

        if (!_isClosed)
        {
            receiver.OnInstalled();
        }
    }

    private void BeginFlush(long configuration)
    {
        var barrier = _barriers.Begin(configuration);
        try
        {
            sink.OnFlush(barrier);
        }
        catch (Exception)
        {
            node.Context.Counters.SinkExceptions++;
            barrier.Release();
        }
    }
}
