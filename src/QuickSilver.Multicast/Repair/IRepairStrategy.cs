using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.Repair;

// How one member gets what it misses of one stream. It works by itself, by alarms of its own; the ring guarantees what it does not get.
internal interface IRepairStrategy
{
    /// <summary>It has failed often enough that the neighbours in the ring should push what is missing.</summary>
    bool NeedsNeighbourPush { get; }

    /// <summary>Something is missing; perhaps no more than before.</summary>
    void OnMissing();

    /// <summary>What was missing has come; this was noted of it.</summary>
    void OnFilled(in PacketSlot missing);

    /// <summary>All that is missing is asked for now, as if for the first time.</summary>
    void AskAnew();

    void Close();
}
