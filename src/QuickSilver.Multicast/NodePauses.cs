using QuickSilver.Core.Environment;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Reachability;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast;

// What a node does about pauses of its own and of others. After its own, it leaves the time in which it did not listen out of all that
// measures the silence of others, and notifies its ring neighbours. After that of a neighbour, it forgets what it held against it.
internal sealed class NodePauses : IPauseObserver, IPacketHandler
{
    private readonly TopicStreams _topics;
    private readonly MulticastContext _context;
    private readonly OpenViews _views;
    // Null until this node or a neighbour has stood still.
    private PauseNotices? _notices;
    private ReportedPauses? _reported;

    public NodePauses(TopicStreams topics, MulticastContext context, OpenViews views)
    {
        _topics = topics;
        _context = context;
        _views = views;
        context.Pauses = this;
        context.Environment.Pauses.Add(this);
    }

    public void OnPause(in Pause pause)
    {
        foreach (var region in _views.All)
        {
            region.OnPause(pause.Length);
        }

        _context.OnPause(pause.Length);
        foreach (var stream in _topics.Streams)
        {
            stream.OnPause(pause.Length);
        }

        _topics.Waits.OnPause(pause.Length);
        (_notices ??= new PauseNotices(_context, AddNeighbours)).Add(pause);
    }

    public DropReason OnPacket(in PacketHeader header, NodeKey sender)
    {
        // Where packets are sealed, a node that has the key of a view is trusted in that view.
        RegionReceiver? view = null;
        var refused = _context.Options.IsSealed ? _views.Find(header, out view) : DropReason.None;
        if (view is not null && view.View.Members.AsSpan().BinarySearch(sender) < 0)
        {
            refused = DropReason.NotMember;
        }

        refused = refused == DropReason.None ? (_reported ??= new ReportedPauses(_context)).OnPacket(header, sender) : refused;
        if (refused == DropReason.None)
        {
            foreach (var region in _views.All)
            {
                if (view is null || region == view)
                {
                    region.OnMemberPaused(sender);
                }
            }
        }

        return refused;
    }

    public void Close()
    {
        _context.Environment.Pauses.Remove(this);
        _notices?.Close();
    }

    private void AddNeighbours(List<(NodeKey Node, RegionView? View)> to)
    {
        bool isSealed = _context.Options.IsSealed;
        var neighbours = new List<NodeKey>();
        foreach (var region in _views.All)
        {
            region.Stability.AddNeighbours(neighbours);
            if (isSealed)
            {
                neighbours.ForEach(node => to.Add((node, region.View)));
                neighbours.Clear();
            }
        }

        neighbours.ForEach(node => to.Add((node, null)));
    }
}
