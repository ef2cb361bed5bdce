namespace QuickSilver.Architecture.Tests;

// The layer rule as two tables. A new project or folder is put here on purpose, or the tests fail.
internal static class LayerRules
{
    /// <summary>Each project uses only what stands on a lower floor; neighbours on one floor do not know each other.</summary>
    public static readonly IReadOnlyDictionary<string, int> Floors = new Dictionary<string, int>
    {
        ["QuickSilver.Core"] = 0,
        ["QuickSilver.Serialization"] = 1,
        ["QuickSilver.Membership"] = 2,
        ["QuickSilver.Filters"] = 2,
        ["QuickSilver.Multicast"] = 3,
        ["QuickSilver"] = 5,
        // The families, each a package above QuickSilver (docs/families.md). The last one is an example in the tests.
        ["QuickSilver.Groups"] = 6,
        ["QuickSilver.Durable"] = 6,
        ["QuickSilver.Queries"] = 6,
        ["QuickSilver.Overlays"] = 6,
        ["QuickSilver.Healing"] = 6,
        ["QuickSilver.Receipts"] = 6,
        ["QuickSilver.Hosting"] = 6,
        ["QuickSilver.OpenTelemetry"] = 6,
        ["QuickSilver.ProtobufNet"] = 6,
        ["QuickSilver.Simulation"] = 6,
        ["QuickSilver.Aspire"] = 7,
        ["qsm"] = 7,
        ["FlightBoard"] = 7,
        ["OrderBook.Tests"] = 7,
        ["Telemetry"] = 7,
        ["LivePrices"] = 7,
        ["CacheInvalidation"] = 7,
        ["Requests"] = 7,
        ["LastValue"] = 7,
        ["TradingFloor"] = 7,
        ["QuickSilver.Microbenchmarks"] = 7,
        ["QuickSilver.Campaign"] = 7,
        ["QuickSilver.SimulatorSpeed"] = 7,
        ["QuickSilver.GroupFlush"] = 7,
        // Its package carries qsm.
        ["QuickSilver.Aspire.Hosting"] = 8,
    };

    /// <summary>Stands outside: it runs in the compiler, refers to no project, and is used as an analyzer only.</summary>
    public const string Generator = "QuickSilver.Generators";

    /// <summary>
    /// What each room of Core may use: Buffers, Wire, then Transport, then Loop; Alarms, Requests, Flow and Storage know Buffers
    /// only. Sealing knows the wire, and Security nothing but keys and certificates. Transport hands what arrives to the core thread
    /// as requests, and its own thread has alarms. Diagnostics names what it reports on, addresses among it, and so may be known by
    /// what it knows. Environment is the door that joins them all, so it may see each, and only the upper rooms see it.
    /// </summary>
    public static readonly IReadOnlyDictionary<string, string[]> CoreRooms = new Dictionary<string, string[]>
    {
        ["Background"] = [],
        ["Buffers"] = [],
        ["Wire"] = ["Buffers"],
        ["Alarms"] = ["Buffers"],
        ["Requests"] = ["Buffers"],
        ["Flow"] = ["Buffers"],
        ["Storage"] = ["Background", "Buffers"],
        ["Security"] = [],
        ["Sealing"] = ["Wire"],
        ["Diagnostics"] = ["Buffers", "Wire", "Transport"],
        ["Transport"] = ["Background", "Buffers", "Wire", "Alarms", "Requests", "Diagnostics", "Security"],
        ["Loop"] = ["Background", "Buffers", "Wire", "Alarms", "Requests", "Flow", "Diagnostics", "Transport", "Environment"],
        ["Environment"] = ["Buffers", "Wire", "Alarms", "Requests", "Flow", "Diagnostics", "Transport", "Loop", "Storage"],
    };

    /// <summary>
    /// In Serialization, what users know stands first, in the root namespace; then the encoding, and then what only
    /// generated code calls, and what only tools do.
    /// </summary>
    public static readonly IReadOnlyDictionary<string, string[]> SerializationRooms = new Dictionary<string, string[]>
    {
        [""] = [],
        ["Protobuf"] = [""],
        ["Generated"] = ["", "Protobuf"],
        ["Dynamic"] = ["", "Protobuf"],
    };

    /// <summary>
    /// In the public project, from what publishers fill, by endpoints and topics, to the node. The public types are known to all, whichever
    /// folder they lie in; the node that users open, and no other of them, knows the rooms.
    /// </summary>
    public static readonly IReadOnlyDictionary<string, string[]> PublicRooms = new Dictionary<string, string[]>
    {
        ["Feeds"] = [""],
        ["Diagnostics"] = [""],
        ["Options"] = [""],
        ["Security"] = [""],
        ["Status"] = [""],
        ["Composition"] = [""],
        ["Publishing"] = ["", "Diagnostics"],
        ["Endpoints"] = ["", "Diagnostics", "Publishing"],
        ["Topics"] = ["", "Diagnostics", "Publishing", "Endpoints"],
        ["Inboxes"] = ["", "Diagnostics", "Publishing", "Endpoints"],
        ["RequestReply"] = ["", "Diagnostics", "Publishing", "Endpoints", "Inboxes"],
        ["Prefixes"] = ["", "Diagnostics", "Publishing", "Endpoints"],
        ["Transfers"] = ["", "Diagnostics", "Endpoints", "Inboxes"],
        ["States"] = ["", "Diagnostics", "Publishing", "Endpoints", "Inboxes", "Transfers"],
        ["InMemory"] = ["", "Composition"],
        ["Nodes"] = ["", "Diagnostics", "Composition", "Publishing", "Endpoints", "Inboxes", "Transfers", "Topics"],
    };

    /// <summary>In a family, the protocol does not see the public face. What calls the handlers of an application does.</summary>
    public static readonly IReadOnlyDictionary<string, string[]> GroupRooms = new Dictionary<string, string[]>
    {
        ["Ordering"] = [],
        ["States"] = [],
        ["Questions"] = [""],
        ["Protocol"] = ["Ordering", "Questions", "States"],
        ["Endpoints"] = ["", "Ordering", "Protocol", "Questions"],
        ["Members"] = ["", "Endpoints", "Ordering", "States"],
        ["Tools"] = [""],
    };

    public static int FloorOf(string project) => Floors.TryGetValue(project, out var floor)
        ? floor
        : throw new KeyNotFoundException($"{project} stands on no floor: put it into LayerRules");
}
