using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.Repair;

// Sees each repair of a node from the gap to the packet; for experiments, on the core thread.
internal interface IRepairWatch
{
    /// <summary>These numbers were found missing.</summary>
    void OnMissed(InboundStream stream, long first, long last);

    /// <summary>They were asked for; not the first time, perhaps.</summary>
    void OnAsked(InboundStream stream, long first, long last, bool ofSender);

    /// <summary>A number that was missing has come.</summary>
    void OnFilled(InboundStream stream, long number);
}
