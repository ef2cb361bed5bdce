using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.InMemory;

// The views of a pinned topic at one receiver. They are in the order of its messages, which is the same for all receivers of the topic, so
// all members that pass from one view to the next have taken the same messages before. Core thread only.
internal sealed class InMemoryViews(InMemoryParts node, InMemoryWire wire, IDeliverySink sink)
{
    private readonly MembersByAge _members = new();
    private readonly FlushBarriers _barriers = new(isHeld => node.SetHeld(wire, isHeld));

    /// <summary>Whether a view has come, so that messages belong to it.</summary>
    public bool HasBegun { get; private set; }

    /// <summary>A view is decided. What was sent before it may still have to be taken.</summary>
    public void OnDecided(RegionView view)
    {
        if (HasBegun)
        {
            sink.OnFlush(_barriers.Begin(view.Configuration));
        }

        HasBegun = true;
    }

    /// <summary>All that was sent before the view was taken.</summary>
    public void Install(RegionView view) => sink.OnView(_members.Pass(wire.TopicId, view));

    public void Close() => _barriers.Close();
}
