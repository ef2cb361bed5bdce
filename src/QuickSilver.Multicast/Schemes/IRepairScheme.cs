using QuickSilver.Core.Wire;

namespace QuickSilver.Multicast.Schemes;

// A way of repairing losses: what each member does for a view, and for a stream that it receives, and what the sender of a stream does. A
// node has one scheme, which may consist of several (LayeredRepair), and all nodes of a cluster have the same.
internal interface IRepairScheme
{
    /// <summary>The kinds of the scheme's own packets, of the range of protocols. They come to the part of the view they name.</summary>
    IReadOnlyList<PacketKind> Kinds => [];

    /// <summary>
    /// How long a gap is left to the parts of views: until then it is not requested or, in a best-effort stream, given up. Zero: no longer
    /// than otherwise. Does not change.
    /// </summary>
    TimeSpan Patience => TimeSpan.Zero;

    /// <summary>Returns what a member does for all streams of a view together; null: nothing.</summary>
    IRegionRepair? ForRegion(SchemeContext context, IHealedView view) => null;

    IRepairStrategy ForReceiver(SchemeContext context, IViewOfMember view, IRepairedStream stream);

    /// <summary>Returns what the sender of a stream does about packets that it has just sent; null: nothing until it is asked.</summary>
    ISentRepair? ForSender(SchemeContext context, IStreamOfSender stream) => null;
}

// The sender's part of a scheme.
internal interface ISentRepair
{
    /// <summary>Called when these packets were sent for the first time.</summary>
    void OnSent(long first, long last);

    void Close();
}
