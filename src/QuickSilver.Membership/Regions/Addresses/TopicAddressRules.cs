namespace QuickSilver.Membership.Regions.Addresses;

// The limits for addresses of topics; see TopicAddresses.
internal sealed record TopicAddressRules
{
    /// <summary>No topic has an address.</summary>
    public static TopicAddressRules None { get; } = new() { Most = 0 };

    // In the whole cluster, for the switches: those that look into IGMP have tables of some thousand groups for all that use them.
    public int Most { get; init; } = 1024;

    // At a node, for its network card, which filters some dozens or hundreds of groups and takes all beyond, and for its sockets.
    public int MostOfNode { get; init; } = 64;

    // A topic gets an address if one of its messages takes so many sends, and keeps it while it takes half of them. Fewer sends are worth
    // less than the address.
    public int LeastSends { get; init; } = 4;

    // A topic gets the addresses of others if it saves so many times as much as they do.
    public int Advantage { get; init; } = 2;

    // A topic whose address was withdrawn gets none for so many configurations, so that addresses do not go back and forth.
    public int RestConfigurations { get; init; } = 32;

    // For experiments: the traffic of each topic, which the service does not know. Null: as its subscribers are many.
    public Func<ulong, double>? TrafficOf { get; init; }

    public bool IsOn => Most > 0 && MostOfNode > 0;
}
