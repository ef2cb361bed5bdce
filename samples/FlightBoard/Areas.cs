namespace FlightBoard;

// Which airports a subscriber follows. The areas overlap: the hubs in the middle belong to both coasts, and "all" has
// everything, so the subscribers' interests differ and several regions form.
internal static class Areas
{
    public static readonly IReadOnlyList<string> Names = ["west", "east", "all"];

    private static readonly HashSet<string> Middle = ["ORD", "DFW", "IAH", "STL", "MSP", "MCI", "DEN", "MEM"];

    private static readonly HashSet<string> West =
    [
        "LAX", "SFO", "SEA", "PDX", "SAN", "SJC", "OAK", "SMF", "ONT", "BUR", "SNA", "PSP", "LAS", "PHX", "TUS", "RNO", "SLC",
        "ABQ", "BOI", "GEG", "COS", "ANC", "FAI", "JNU", "HNL", "OGG", "LIH", "KOA", "ELP", "LGB",
    ];

    private static readonly HashSet<string> East =
    [
        "ATL", "CLT", "DTW", "MCO", "EWR", "PHL", "LGA", "PIT", "BWI", "MIA", "BOS", "DCA", "CVG", "TPA", "CLE", "JFK", "IAD",
        "FLL", "CMH", "IND", "BDL", "JAX", "PVD", "RDU", "SDF", "PBI", "ALB", "RSW", "GSO", "ORF", "MHT", "BUF", "ROC", "PWM",
        "SYR", "RIC", "GSP", "ISP", "CHS", "CAE", "BTV", "BNA",
    ];

    public static bool Follows(string area, string origin) => area switch
    {
        "west" => West.Contains(origin) || Middle.Contains(origin),
        "east" => East.Contains(origin) || Middle.Contains(origin),
        "all" => true,
        _ => throw new ArgumentException($"'{area}' is not an area; there are {string.Join(", ", Names)}."),
    };

    public static int FollowersOf(string origin) => Names.Count(area => Follows(area, origin));
}
