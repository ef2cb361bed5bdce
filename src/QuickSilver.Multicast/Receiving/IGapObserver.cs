namespace QuickSilver.Multicast.Receiving;

// Hears of each gap of a stream and of its end, on the core thread.
internal interface IGapObserver
{
    /// <summary>These numbers were found missing.</summary>
    void OnMissed(InboundStream stream, long first, long last);

    /// <summary>One that was missing has come; the slot says how often it was asked for, and when.</summary>
    void OnFilled(InboundStream stream, long number, in PacketSlot missing);
}
