
namespace QuickSilver.Multicast.Schemes;

// How one member gets the missing packets of one stream. A strategy works by its own alarms. The ring shows it who
// holds what, and guarantees what it does not get.
internal interface IRepairStrategy
{
    /// <summary>Whether it has failed so often that the ring neighbours must push what is missing.</summary>
    bool NeedsNeighbourPush { get; }

    /// <summary>Called when packets are missing, perhaps no more than before.</summary>
    void OnMissing();

    /// <summary>Called when a missing packet has come, with the slot that was recorded for it.</summary>
    void OnFilled(in PacketSlot missing);

    /// <summary>
    /// Called when a token shows which of the missing packets others hold. By default, the strategy works without that.
    /// </summary>
    void OnCompared(in RingComparison compared)
    {
    }

    /// <summary>Requests everything that is missing now, as if for the first time.</summary>
    void AskAnew();

    void Close();
}
