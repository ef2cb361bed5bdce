using System.Collections.Immutable;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.InMemory;

// The views of a pinned topic at one receiver. They are in the order of its messages, which is the same for all receivers of the topic, so
// all members that pass from one view to the next have taken the same messages before. Core thread only.
internal sealed class InMemoryViews(InMemoryParts node, InMemoryWire wire, IDeliverySink sink)
{
    private ImmutableArray<(NodeKey Key, long Since)> _members = [];
    private bool _hasComing;
    private int _barriers;
    private bool _isClosed;

    /// <summary>Whether a view has come, so that messages belong to it.</summary>
    public bool HasBegun => _hasComing;

    /// <summary>A view is decided. What was sent before it may still have to be taken.</summary>
    public void OnDecided(RegionView view)
    {
        if (!_hasComing)
        {
            _hasComing = true;
            return;
        }

        if (_barriers++ == 0)
        {
            node.Hold(wire.TopicId);
        }

        sink.OnFlush(new Barrier(this, view.Configuration));
    }

    /// <summary>All that was sent before the view was taken.</summary>
    public void Install(RegionView view)
    {
        var before = _members;
        _members =
        [
            .. view.Members.Select((member, place) => (member, view.Since[place])).OrderBy(static member => member.Item2),
        ];
        sink.OnView(new MemberView
        {
            TopicId = wire.TopicId,
            Configuration = view.Configuration,
            Members = [.. _members.Select(static member => member.Key)],
            Joined = [.. _members.Except(before).Select(static member => member.Key)],
            Left = [.. before.Except(_members).Select(static member => member.Key)],
        });
    }

    public void Close()
    {
        _isClosed = true;
        if (_barriers > 0)
        {
            _barriers = 0;
            node.Release(wire);
        }
    }

    private void OnReleased()
    {
        if (!_isClosed && --_barriers == 0)
        {
            node.Release(wire);
        }
    }

    private sealed class Barrier(InMemoryViews views, long configuration) : IFlushBarrier
    {
        private bool _isReleased;

        public long Configuration => configuration;

        public void Release()
        {
            if (!_isReleased)
            {
                _isReleased = true;
                views.OnReleased();
            }
        }
    }
}
