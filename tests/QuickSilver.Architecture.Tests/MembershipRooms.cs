namespace QuickSilver.Architecture.Tests;

// What each room of Membership uses. Both sides, the service and its client, stand on what they share, and the client knows the service
// because a node may host it.
internal static class MembershipRooms
{
    public static readonly RoomTable Table = new("QuickSilver.Membership",
    [
        new("Contracts", []),
        new("Views", []),
        new("Regions", ["Contracts", "Views"]),
        new("Diagnostics", ["Views", "Regions"]),
        new("Protocol", ["Contracts", "Views"]),
        new("Snapshots", ["Views", "Protocol"]),
        new("Reachability", ["Views", "Regions", "Diagnostics", "Protocol"]),
        new("Service", ["Contracts", "Views", "Regions", "Diagnostics", "Protocol", "Snapshots", "Reachability"]),
        new("Client", ["Contracts", "Views", "Diagnostics", "Protocol", "Snapshots", "Reachability", "Service"]),
    ]);
}
