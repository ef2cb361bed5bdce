
namespace QuickSilver.Multicast.Schemes;

// A way of repairing losses: what each member does for a stream that it receives, and what the sender of a stream does. A node has one
// scheme, and all nodes of a cluster have the same.
internal interface IRepairScheme
{
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
