namespace QuickSilver.Architecture.Tests;

// What each room of Multicast uses, from what all rooms share up to the root, which wires them.
internal static class MulticastRooms
{
    public static readonly RoomTable Table = new("QuickSilver.Multicast",
    [
        new("Nodes", []),
        new("Channels", ["Nodes"]),
        new("Views", ["Nodes"]),
        new("Pacing", ["Nodes"]),
        new("Paths", ["Nodes", "Views"]),
        new("Reachability", ["Nodes", "Views", "Paths"]),
        new("Hearing", ["Nodes", "Channels"]),
        new("Dissemination", ["Nodes", "Hearing"]),
        new("Reassembly", ["Channels"]),
        new("Schemes", ["Nodes", "Channels", "Views", "Pacing", "Paths", "Reachability"]),
        new("Sending", ["Nodes", "Channels", "Views", "Pacing", "Paths", "Reachability", "Hearing", "Dissemination", "Schemes"]),
        new("Receiving", ["Nodes", "Channels", "Views", "Pacing", "Hearing", "Dissemination", "Reassembly", "Schemes"]),
        new("Repair", ["Nodes", "Channels", "Views", "Pacing", "Paths", "Schemes", "Sending", "Receiving"]),
        new("Stability", ["Nodes", "Channels", "Views", "Pacing", "Paths", "Reachability", "Schemes", "Sending", "Receiving", "Repair"]),
        new("Hybrid", ["Nodes", "Channels", "Paths", "Hearing", "Sending"]),
        new("Ordering", ["Nodes", "Channels", "Reassembly", "Sending", "Receiving", "Hybrid"]),
        new("Sealing", ["Nodes", "Channels", "Views", "Sending", "Receiving"]),
        new("Dispatch", ["Nodes", "Channels", "Hearing", "Dissemination", "Schemes", "Sending", "Receiving", "Sealing"]),
        new("Stalls", ["Nodes", "Channels", "Views", "Schemes", "Sending", "Receiving", "Ordering"]),
        new("VitalSigns", ["Nodes", "Channels", "Schemes", "Sending", "Receiving"]),
        new(
            Room.Root,
            [
                "Nodes", "Channels", "Paths", "Reachability", "Hearing", "Dissemination", "Reassembly", "Schemes", "Sending",
                "Receiving", "Repair", "Stability", "Ordering", "Sealing", "Dispatch", "Stalls", "VitalSigns"
            ]),
        new("Protocols", ["Nodes", "Channels", Room.Root]),
    ]);
}
