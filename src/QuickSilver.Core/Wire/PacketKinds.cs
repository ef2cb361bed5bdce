namespace QuickSilver.Core.Wire;

// What packets of a kind are for. The class decides which packets of a burst are handled first, and who may seal a packet.
internal enum PacketClass : byte
{
    // Handled first, and few. Sealed by its sender.
    Control,
    // Handled before new data. Sealed by its sender: a repair is made of packets of others, and its maker answers for it. A replayed
    // packet is not detected: its handler must do nothing with one that it does not need.
    Repair,
    // Any member of the view may seal it, because members send each other's data again. The header names the sender. A replayed packet is
    // detected by its number in its stream.
    Data,
}

// The kinds of packets by number. The class of a kind follows from its number alone, so that a packet can be classed before anything else
// is known of it. The multicast layer has the numbers below 32. A protocol or a scheme that has packets of its own takes a number of the
// range of their class, and registers its handler with each node that uses it. No handler: the packet is dropped, and counted.
internal static class PacketKinds
{
    /// <summary>The number of kinds that a packet can name, <see cref="PacketKind.None"/> included.</summary>
    public const int Count = 64;

    public const PacketKind FirstOfProtocols = FirstControl;
    public const PacketKind FirstControl = (PacketKind)32;
    public const PacketKind FirstRepair = (PacketKind)48;
    public const PacketKind FirstData = (PacketKind)56;
    public const PacketKind Last = (PacketKind)(Count - 1);

    /// <summary>Whether the kind belongs to a protocol or a scheme that registers it.</summary>
    public static bool IsOfProtocol(PacketKind kind) => kind is >= FirstOfProtocols and <= Last;

    /// <summary>Refuses a kind that is not of a protocol or a scheme.</summary>
    /// <exception cref="ArgumentException">The kind belongs to the multicast layer, or is none.</exception>
    public static void CheckOfProtocol(PacketKind kind)
    {
        if (!IsOfProtocol(kind))
        {
            throw new ArgumentException($"Packets of kind {(int)kind} are not those of a protocol.", nameof(kind));
        }
    }

    /// <summary>The class of packets of this kind. Packets of a number that no version uses are handled last, as data is.</summary>
    public static PacketClass ClassOf(PacketKind kind) => kind switch
    {
        PacketKind.Data or PacketKind.Shared => PacketClass.Data,
        < FirstRepair => PacketClass.Control,
        < FirstData => PacketClass.Repair,
        _ => PacketClass.Data,
    };
}
