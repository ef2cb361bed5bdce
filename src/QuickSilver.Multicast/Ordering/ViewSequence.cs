using System.Collections.Immutable;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Ordering;

// The views of a pinned topic as one subscription goes through them, one after the other. What was sent in a view goes up after all that
// this member gets of the view before it, and the sink is told of the view in between. All members that go from one view to the next
// have then delivered the same messages in the first of them, which is what a process group's flush is for (Isis, virtual
// synchrony): views of regions are closed worlds, and when one closes its members have agreed on all that was sent in it.
//
// Invariants: a view is installed when all of the one before it was handed up at this node and nothing of that waits for room; views are
// installed in the order of their configurations; while a barrier is not released the topic's publishers on this node are held.
internal sealed class ViewSequence(IReceivingNode node, TopicReceiver receiver, IDeliverySink sink)
{
    private readonly Queue<RegionView> _coming = new();
    private RegionView? _installed;
    private ImmutableArray<NodeKey> _members = [];
    // Of the last view that came.
    private long _last;
    private int _barriers;
    private bool _isInstalling;
    private bool _isClosed;

    public ulong TopicId => receiver.TopicId;

    /// <summary>A barrier is not released yet.</summary>
    public bool IsHeld => _barriers > 0;

    /// <summary>Whether the view is not installed yet.</summary>
    public bool IsAhead(RegionView view) => _installed is null || view.Configuration > _installed.Configuration;

    /// <summary>The topic's region has this view now, of which this node is a member.</summary>
    public void OnView(RegionView view)
    {
        if (view.Configuration <= _last)
        {
            return;
        }

        bool isFirst = _last == 0;
        _last = view.Configuration;
        _coming.Enqueue(view);
        if (!isFirst)
        {
            BeginFlush(view.Configuration);
        }

        TryInstall();
    }

    /// <summary>Views may be over, or messages that waited for room have gone up.</summary>
    public void TryInstall()
    {
        if (_isInstalling)
        {
            return;
        }

        _isInstalling = true;
        while (!_isClosed && _coming.TryPeek(out var next) && IsOver(_installed) && !receiver.IsAnyBlocked)
        {
            _coming.Dequeue();
            Install(next);
        }

        _isInstalling = false;
    }

    /// <summary>The subscription is closed.</summary>
    public void Close()
    {
        _isClosed = true;
        _coming.Clear();
        if (_barriers > 0)
        {
            _barriers = 0;
            node.SetHeld(TopicId, isHeld: false);
        }
    }

    private bool IsOver(RegionView? view) => view is null || node.IsOver(view);

    private void Install(RegionView view)
    {
        _installed = view;
        var before = _members;
        _members = view.Since.IsEmpty ? view.Members : ByAge(view);
        try
        {
            sink.OnView(new MemberView
            {
                TopicId = TopicId,
                Configuration = view.Configuration,
                Members = _members,
                Joined = [.. _members.Except(before)],
                Left = [.. before.Except(_members)],
            });
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
        var barrier = new Barrier(this, configuration);
        if (_barriers++ == 0)
        {
            node.SetHeld(TopicId, isHeld: true);
        }

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

    private void OnReleased()
    {
        if (!_isClosed && --_barriers == 0)
        {
            node.SetHeld(TopicId, isHeld: false);
        }
    }

    // The members are in the order of their keys, so those who came together stay so.
    private static ImmutableArray<NodeKey> ByAge(RegionView view) =>
        [.. Enumerable.Range(0, view.Members.Length).OrderBy(place => view.Since[place]).Select(place => view.Members[place])];

    private sealed class Barrier(ViewSequence sequence, long configuration) : IFlushBarrier
    {
        private bool _isReleased;

        public long Configuration => configuration;

        public void Release()
        {
            if (!_isReleased)
            {
                _isReleased = true;
                sequence.OnReleased();
            }
        }
    }
}
