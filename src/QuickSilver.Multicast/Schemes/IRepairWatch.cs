
namespace QuickSilver.Multicast.Schemes;

// Observes each repair of a node from the gap to the packet. For experiments; called on the core thread.
internal interface IRepairWatch
{
    /// <summary>Called when these numbers were found missing.</summary>
    void OnMissed(IStreamOfMember stream, long first, long last);

    /// <summary>Called when these numbers were requested, perhaps not for the first time.</summary>
    void OnAsked(IStreamOfMember stream, long first, long last, bool ofSender);

    /// <summary>Called when a missing number has come.</summary>
    void OnFilled(IStreamOfMember stream, long number);
}
