namespace QuickSilver.Architecture.Tests;

// What each room of Multicast uses, from what all rooms share up to the root, which wires them.
internal static class MulticastRooms
{
    public static readonly RoomTable Table = new("QuickSilver.Multicast",
    [
        new("Nodes", []),
        new("Channels", ["Nodes"]),
        new("Views", ["Nodes"]),
        new("Pacing", []),
        new("Paths", ["Nodes", "Views"], knots: [Room.Root]),
        new("Reachability", ["Nodes", "Paths"], knots: [Room.Root]),
        new("Hearing", ["Nodes", "Channels"], knots: [Room.Root]),
        new("Dissemination", ["Nodes", "Hearing"], knots: [Room.Root]),
        new("Reassembly", ["Channels"], knots: ["Receiving"]),
        new("Schemes", [], knots: ["Sending", "Receiving", Room.Root]),
        new(
            "Sending",
            ["Nodes", "Channels", "Views", "Pacing", "Paths", "Hearing", "Dissemination", "Schemes"],
            knots: ["Receiving", Room.Root]),
        new("Receiving", ["Nodes", "Channels", "Views", "Pacing", "Hearing", "Dissemination", "Reassembly", "Schemes"], knots: [Room.Root]),
        new("Repair", ["Nodes", "Channels", "Views", "Paths", "Schemes", "Sending", "Receiving"], knots: [Room.Root]),
        new(
            "Stability",
            ["Nodes", "Channels", "Views", "Pacing", "Paths", "Schemes", "Sending", "Receiving", "Repair"],
            knots: [Room.Root]),
        new("Hybrid", ["Nodes", "Channels", "Paths", "Hearing", "Sending"], knots: [Room.Root]),
        new("Ordering", ["Nodes", "Channels", "Reassembly", "Sending", "Receiving", "Hybrid"], knots: [Room.Root]),
        new("Sealing", ["Nodes", "Channels", "Views", "Sending", "Receiving"], knots: [Room.Root]),
        new(
            "Dispatch",
            ["Nodes", "Channels", "Hearing", "Dissemination", "Schemes", "Sending", "Receiving", "Sealing"],
            knots: [Room.Root]),
        new("Stalls", ["Nodes", "Channels", "Views", "Sending", "Receiving", "Ordering"], knots: [Room.Root]),
        new("VitalSigns", ["Nodes", "Channels", "Sending", "Receiving", "Stability"], knots: [Room.Root]),
        new(
            Room.Root,
            [
                "Nodes", "Channels", "Views", "Paths", "Reachability", "Hearing", "Dissemination", "Reassembly", "Schemes", "Sending",
                "Receiving", "Repair", "Stability", "Ordering", "Sealing", "Dispatch", "Stalls", "VitalSigns"
            ]),
        new("Protocols", ["Channels", Room.Root]),
    ]);
}
