using QuickSilver.Core.Buffers;
using QuickSilver.Membership.Service.Takeover;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Ordering;
using QuickSilver.Multicast.Reassembly;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Sending.Acknowledgement;
using QuickSilver.Multicast.Views;
using QuickSilver.Publishing.Requests;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Checkers;
using QuickSilver.Simulation.Checkers.Deliveries;
using QuickSilver.Simulation.Checkers.Progress;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Seeds.Tests.Infrastructure.Recording;

// The invariants that each run of whole nodes is held to, and the bounds of the tables of nodes.
internal static class CampaignCheckers
{
    // Tables of what is over, and pools, which keep what was once in use: by their bounds.
    private static readonly Dictionary<string, long> Remembered = new()
    {
        ["EndedLives._all"] = EndedLives.MostKept,
        ["EndedLives._order"] = EndedLives.MostKept,
        ["EndedLives._told"] = EndedLife.Most,
        ["HeldRegions.<Ended>k__BackingField"] = EndedLife.Most,
        ["ClaimPool._free"] = ClaimPool.MostKept,
        ["ClosedViews._byAge"] = ClosedViews.Most,
        ["ClosedViews._highest"] = ClosedViews.Most,
        ["KeyRing._closed"] = ClosedViews.Most,
        ["KeyRing._views"] = ClosedViews.Most,
        ["OpenTopics._resting"] = OpenTopics.MostNumbered,
        ["PublishRequestPool._free"] = PublishRequestPool.MaxKept,
        ["PublishRequestPool._freeWaits"] = PublishRequestPool.MaxKept,
        ["ReassemblyBudget._pool"] = ReassemblyBudget.MaxPooled,
        ["DepartedIdentities._byAge"] = DepartedIdentities.Most,
        ["DepartedIdentities._identities"] = DepartedIdentities.Most,
        ["DepartedSenders._byAge"] = DepartedSenders.Most,
        ["DepartedSenders._orders"] = DepartedSenders.Most,
        ["EndedStreams._byAge"] = EndedStreams.Most,
        ["EndedStreams._ends"] = EndedStreams.Most,
        ["TopicHearing._counts"] = TopicHearing.MostCounts,
        ["UnheardTopics._reports"] = UnheardTopics.Most,
        ["SlabPool._free"] = new SimulationOptions().PoolBytes / SlabPool.BlockBytes,
    };

    // The leader of a ring has a result for each sender in it, and may lead one at each level, of which 20 nodes have 5 at most; the others
    // have none.
    private static readonly Dictionary<string, (string Table, int Times)> OfLeaders = new()
    {
        ["RingResults._bySender"] = ("RegionReceiver._reliable", 5),
        // Under the key of a view, each member may have sealed something; 20 nodes at most are members.
        ["PacketOpener._sealers"] = ("KeyRing._views", 20),
    };

    /// <param name="mayPart">
    /// Whether nodes may lose each other and stay up, when the service changes: a gap that is reported then
    /// excuses (I19); I8 still demands what those that have not parted owe each other, and I11 nothing.
    /// </param>
    /// <param name="hostsMayPart">Whether there may be several services for a while (I9).</param>
    /// <param name="isBestEffort">Which topics are of best effort; null: none.</param>
    /// <param name="rights">The rights of nodes; null: all nodes have all rights.</param>
    /// <param name="stallWarning">After how long nodes name what waits (I21); null: as usual.</param>
    public static IEnumerable<HistoryChecker> All(
        bool mayPart = false, bool hostsMayPart = false, Func<ulong, bool>? isBestEffort = null, TimeSpan? stallWarning = null,
        DrawnRights? rights = null)
    {
        isBestEffort ??= static _ => false;
        return
        [
            new NoGapChecker(), new NoDuplicateChecker(), new NoPhantomChecker(), new OrderChecker(), new ViewsChecker(),
            new DeliveryViewChecker { IsBestEffort = isBestEffort }, new PrimaryChecker { HostsMayPart = hostsMayPart },
            new IncarnationChecker(), new MemoryChecker(), new RepairChecker(),
            new LivenessChecker { GapsExcuse = mayPart, IsBestEffort = isBestEffort },
            new AgreementChecker { MayPart = mayPart, IsBestEffort = isBestEffort },
            new StableChecker { IsBestEffort = isBestEffort }, new BestEffortChecker { IsBestEffort = isBestEffort },
            new TablesChecker { Bounded = Remembered, OfLeaders = OfLeaders },
            new StallChecker(stallWarning ?? new QuickSilverOptions().StallWarning),
            .. rights is null ? [] : new[] { new RightsChecker { MayPublish = rights.MayPublish, MaySubscribe = rights.MaySubscribe } },
        ];
    }
}
