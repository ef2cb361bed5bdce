namespace QuickSilver.Architecture.Tests;

// What each room of Multicast uses. The root knows the node's surroundings and options, and what all rooms share.
internal static class MulticastRooms
{
    public static readonly RoomTable Table = new("QuickSilver.Multicast",
    [
        new(
            Room.Root,
            [],
            knots: [
                "Channels", "VitalSigns", "Paths", "Dissemination", "Repair", "Stability", "Hearing", "Reachability", "Hybrid",
                "Sending", "Reassembly", "Receiving", "Views", "Ordering", "Sealing", "Dispatch", "Stalls"
            ]),
        new("Channels", []),
        new("Pacing", []),
        new("VitalSigns", [Room.Root, "Channels"], knots: ["Stability", "Sending", "Receiving"]),
        new("Paths", [Room.Root], knots: ["Views", "Dispatch"]),
        new("Dissemination", [Room.Root], knots: ["Hearing", "Sending"]),
        new("Repair", [Room.Root, "Channels", "Pacing", "Paths"], knots: ["Stability", "Sending", "Receiving", "Views", "Dispatch"]),
        new(
            "Stability",
            [Room.Root, "Channels", "Pacing", "VitalSigns", "Paths", "Repair"],
            knots: ["Sending", "Receiving", "Views", "Dispatch"]),
        new("Hearing", [Room.Root]),
        new("Reachability", [Room.Root, "Paths"]),
        new("Hybrid", [Room.Root, "Channels", "Paths", "Hearing"], knots: ["Sending", "Receiving", "Views", "Ordering"]),
        new(
            "Sending",
            [Room.Root, "Channels", "Pacing", "Paths", "Dissemination", "Repair", "Hearing", "Hybrid"],
            knots: ["Receiving", "Views"]),
        new("Reassembly", [Room.Root, "Channels"], knots: ["Receiving"]),
        new(
            "Receiving",
            [Room.Root, "Channels", "Dissemination", "Repair", "Stability", "Hearing", "Hybrid", "Reassembly"],
            knots: ["Views", "Dispatch"]),
        new("Views", [Room.Root, "Channels", "Hybrid", "Sending", "Receiving"]),
        new("Ordering", [Room.Root, "Channels", "Hybrid", "Sending", "Reassembly", "Receiving"], knots: ["Stalls"]),
        new("Sealing", [Room.Root, "Channels", "Sending", "Views"]),
        new("Dispatch", [Room.Root, "Channels", "Receiving", "Views", "Sealing"]),
        new("Stalls", [Room.Root, "Channels", "Sending", "Receiving", "Views", "Ordering"]),
        new("Protocols", [Room.Root, "Channels"]),
    ]);
}
