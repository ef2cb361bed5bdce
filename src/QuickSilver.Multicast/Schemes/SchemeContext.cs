using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Paths;
using QuickSilver.Multicast.Reachability;

namespace QuickSilver.Multicast.Schemes;

// What a scheme may use of the node, besides the view and the stream for which it works.
internal sealed class SchemeContext(NodeContext node, NodePaths paths, IRepairPush push, IRepairScheme repair)
{
    public NodeContext Node => node;

    public NodePaths Paths => paths;

    public Suspicions Suspicions => field ??= new Suspicions(node);

    public IRepairPush Push => push;

    /// <summary>How old a gap is when it is requested: later, packets out of order do not explain it, and nothing has healed it.</summary>
    public TimeSpan ReorderWindow => Longer(node.Options.ReorderWindow);

    /// <summary>How old a gap of a best-effort stream is when it is given up.</summary>
    public TimeSpan BestEffortPatience => Longer(node.Options.BestEffortPatience);

    /// <summary>Null except in experiments.</summary>
    public IRepairWatch? RepairWatch { get; set; }

    private TimeSpan Longer(TimeSpan window) => repair.Patience > window ? repair.Patience : window;
}

// Sends packets that are kept here to members that could not get them by themselves, at the end of the turn.
internal interface IRepairPush
{
    /// <summary>Sends those packets to the neighbour that are missing there and kept here.</summary>
    void Push(IKeptStream cached, SequenceRanges gaps, NodeKey neighbour);

    /// <summary>Sends one packet that is kept here to a member that is known to lack it.</summary>
    void PushOne(IKeptStream cached, long number, NodeKey member);
}
