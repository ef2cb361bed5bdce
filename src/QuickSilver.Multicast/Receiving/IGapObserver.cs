using QuickSilver.Multicast.Schemes;

namespace QuickSilver.Multicast.Receiving;

// Observes each gap of a stream, from its start to its end, on the core thread.
internal interface IGapObserver
{
    /// <summary>Called when these numbers were found missing.</summary>
    void OnMissed(InboundStream stream, long first, long last);

    /// <summary>Called when a missing number has come. The slot records how often it was requested, and when.</summary>
    void OnFilled(InboundStream stream, long number, in PacketSlot missing);
}
