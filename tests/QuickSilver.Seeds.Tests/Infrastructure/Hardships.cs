namespace QuickSilver.Seeds.Tests.Infrastructure;

// What a seed of MixedFaults may meet besides the kinds of faults that it draws first.
[Flags]
internal enum Hardships : long
{
    None = 0,
    DeadDatagrams = 1 << 0,
    Replay = 1 << 1,
    Interface = 1 << 2,
    Refusals = 1 << 3,
    LittleMemory = 1 << 4,
    SlowLinks = 1 << 5,
    FullRate = 1 << 6,
    LargeMessages = 1 << 7,
    BestEffort = 1 << 8,
    SleepingReaders = 1 << 9,
    StableAndFeeds = 1 << 10,
    Endings = 1 << 11,
    BusyHandlers = 1 << 12,
    YearsOff = 1 << 13,
    NoMulticast = 1 << 14,
    MulticastStops = 1 << 15,
    LoneHost = 1 << 16,
    OtherCluster = 1 << 17,
    OtherOptions = 1 << 18,
    Churned = 1 << 19,

    // One fault that stands, and all others continue: StandingFaults.
    Standing = 1 << 20,

    // No hardship by itself, but all others are met by nodes that seal their packets.
    Sealed = 1 << 21,

    StoreFailures = 1 << 22,
    SeveralServers = 1 << 23,
    Rights = 1 << 24,
    Forgeries = 1 << 25,
    Removals = 1 << 26,
    AddressChanges = 1 << 27,
    DeadStreams = 1 << 28,
    FewDescriptors = 1 << 29,
    ShortLives = 1 << 30,
    RaisedNumbers = 1L << 31,

    // One fault that stands for a minute or more, among those that end a node or its service: StandingFaults.
    LongNight = 1L << 32,

    ShortHeap = 1L << 33,
}

// How often each is drawn, and whether it is yet: what the protocol does not stand is switched on with what fixes it. Each is drawn from a
// stream of its own, so that switching one on changes no other.
internal static class HardshipTable
{
    // Of the seeds, those that meet only what was there before.
    private const double ShareWithout = 0.4;

    private const bool Yes = true;
    private const bool NotYet = false;

    public static readonly (Hardships Hardship, double Share, bool IsDrawn)[] All =
    [
        // F19: one after another, datagrams from a node, to it or both vanish while its streams live.
        (Hardships.DeadDatagrams, 0.15, Yes),
        // F18: datagrams have a bit flipped, or come again seconds later.
        (Hardships.Replay, 0.15, Yes),
        // F25: interfaces go down and come back, at times without their groups.
        (Hardships.Interface, 0.15, Yes),
        // F20: ports, groups, listeners, connections and sends are refused.
        (Hardships.Refusals, 0.15, Yes),
        // F21: packet memory and what is kept of messages in parts at their least.
        (Hardships.LittleMemory, 0.1, Yes),
        // F21: 10 to 100 Mbit/s.
        (Hardships.SlowLinks, 0.1, Yes),
        // F21: some publish as fast as they may, for a while.
        (Hardships.FullRate, 0.06, Yes),
        // F21: up to 4 MiB.
        (Hardships.LargeMessages, 0.1, Yes),
        // Some topics are of best effort.
        (Hardships.BestEffort, 0.15, Yes),
        // F24: readers that stop reading, and come back after the faults.
        (Hardships.SleepingReaders, 0.1, Yes),
        // Publishers wait until what they published is stable, and some have feeds.
        (Hardships.StableAndFeeds, 0.2, Yes),
        // Endpoints are drained, cancelled and closed while publishes wait, and publishes are cancelled.
        (Hardships.Endings, 0.2, Yes),
        // Handlers publish, and close what they handle.
        (Hardships.BusyHandlers, 0.2, Yes),
        // F8: wall clocks are wrong by years from the start.
        (Hardships.YearsOff, 0.1, Yes),
        // F12: the network carries no multicast; it stops after the faults.
        (Hardships.NoMulticast, 0.1, Yes),
        (Hardships.MulticastStops, 0.1, Yes),
        // F3: the embedded host is cut off alone.
        (Hardships.LoneHost, 0.15, Yes),
        // F23: nodes of another cluster with the same topics; nodes with other options.
        (Hardships.OtherCluster, 0.1, Yes),
        (Hardships.OtherOptions, 0.1, Yes),
        // Topics, regions and peers come and go for a while after the faults; then tables are what they were.
        (Hardships.Churned, 0.05, Yes),
        // The others continue while a fault stands (I22 to I24).
        (Hardships.Standing, 0.2, Yes),
        // F18: an attacker on the network has no key. Nodes with a key cannot be distinguished.
        (Hardships.Sealed, 0.5, Yes),
        // F14: the store of the membership service keeps nothing, is not read, and answers late or not at all.
        (Hardships.StoreFailures, 0.12, Yes),
        // F14, F4, F6: several servers, one of which leads by a lease. It is cut off from the store, stands still or dies; another leads.
        (Hardships.SeveralServers, 0.12, Yes),
        // T13: identities without the right to publish or to subscribe. Some publish all the same.
        (Hardships.Rights, 0.15, Yes),
        // F18: sealed packets are recorded, and come again unchanged, changed, or in the name of another node. Of those that are sealed.
        (Hardships.Forgeries, 0.3, Yes),
        // F16: silent for as long as it takes, unheard by its neighbours, and replaced by a newer incarnation, all at about the same time.
        (Hardships.Removals, 0.12, Yes),
        // F26: the interfaces of nodes get other addresses, permanently.
        (Hardships.AddressChanges, 0.1, Yes),
        // F26: no stream passes between a node, or the host of the membership service, and others, while datagrams do.
        (Hardships.DeadStreams, 0.1, Yes),
        // F20: processes may open so few descriptors that a host has hardly enough for its sessions.
        (Hardships.FewDescriptors, 0.06, Yes),
        // F28: one or two machines run one short life after another, each of which publishes.
        (Hardships.ShortLives, 0.08, Yes),
        // F22: a member raises numbers in what it sends, to members and to the membership service.
        (Hardships.RaisedNumbers, 0.06, Yes),
        (Hardships.LongNight, 0.05, Yes),
        // F21: the collector refuses memory for received messages, at each place in turn or at all of them.
        (Hardships.ShortHeap, 0.12, Yes),
    ];

    /// <summary>Those that QS_HARDSHIPS names, in every seed; null where it says nothing.</summary>
    public static Hardships? Asked => Named("QS_HARDSHIPS");

    /// <summary>Those that QS_ALSO names: every seed meets them besides what it draws.</summary>
    public static Hardships Also => Named("QS_ALSO") ?? Hardships.None;

    /// <summary>Those that QS_ONLY names: of many seeds, only those are run that draw all of them.</summary>
    public static Hardships Only => Named("QS_ONLY") ?? Hardships.None;

    public static Hardships Draw(ulong seed)
    {
        if (SeededRandomOf(seed, 0).Chance(ShareWithout))
        {
            return Hardships.None;
        }

        var drawn = Hardships.None;
        foreach (var (hardship, share, isDrawn) in All)
        {
            drawn |= isDrawn && SeededRandomOf(seed, (ulong)hardship).Chance(share) ? hardship : Hardships.None;
        }

        return drawn;
    }

    private static Hardships? Named(string variable) =>
        Environment.GetEnvironmentVariable(variable) is { Length: > 0 } names ? Enum.Parse<Hardships>(names, ignoreCase: true) : null;

    private static Simulation.Machines.SeededRandom SeededRandomOf(ulong seed, ulong owner) =>
        Simulation.Machines.SeededRandom.Derive(seed, purpose: 23, owner);
}
