using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Seeds.Tests.Infrastructure;
using QuickSilver.Seeds.Tests.Infrastructure.Courses;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Seeds.Tests;

// Campaign "MixedFaults": each seed draws its own cluster (4 to 16 nodes, dedicated or embedded membership, one region for a node or
// several, packet sizes, multicast or unicast, clocks near the wrap of what is counted in seconds) and its own mixture of the faults F1 to
// F8, F11 to F15 and F17. Three seeds in five also meet hardships (F14, F16, F18 to F25, rights, and uses of the public face, each drawn
// apart: HardshipTable), and of these one in five is a run in which one fault stands and all others continue (StandingFaults). Half of them
// are of nodes that seal their packets. I1 to I4, I7 to I11, I17 to I24 and rights (T13) hold.
//
// Many seeds, and one again:
//   QS_SEEDS=2000 dotnet test --project tests/QuickSilver.Seeds.Tests -c Release --filter-class "*.MixedFaultsCampaign"
//   QS_SEEDS=1 QS_FIRST_SEED=<seed> (the same); QS_RECORDS=<file> writes all records of the run and its logs
// QS_HARDSHIPS=<names> has each seed meet these and no others, QS_ALSO=<names> these besides those that it draws, and QS_STANDING=<name>
// chooses the fault that stands. With the program, QS_ONLY=<names> leaves out the seeds that do not draw these.
public sealed class MixedFaultsCampaign(ITestOutputHelper output)
{
    private const int FewestSeeds = 8;

    public static TheoryData<ulong> Chosen => [.. SeedChoice.Of(FewestSeeds)];

    [Theory]
    [MemberData(nameof(Chosen))]
    public void Invariants_hold_under_any_mixture_of_faults(ulong seed) => new MixedFaults(output).Check(seed);

    [Theory]
    // Where clocks show 2088 or later, configurations had negative numbers, and no node ever joined.
    [InlineData(134)]
    // A node that came over to a service learned, when it came again, what had been settled there before it. So it closed old
    // views in which its own messages were not settled, and never confirmed them.
    [InlineData(556)]
    // The leader of the rings died between deciding what of a gone sender was lost and reporting it to all: its epoch never ended.
    [InlineData(6446)]
    // Two leaders of one ring's root, of which one considered the other gone: the later continued the numbers of the other's epochs.
    [InlineData(1527)]
    // A node that this one had never heard of came over from the same cluster: it had sent in a view of that cluster, and given it
    // up, and was waited for there.
    [InlineData(69)]
    // A member followed, as its leader, one that considered the leader gone, and dropped the tokens of the leader after that.
    [InlineData(2403)]
    // The members acknowledged for those left after a removal of which the sender did not hear: it let go what the removed one
    // lacked, and was one with it again when both came to a new service.
    [InlineData(2472)]
    // A new service did not know yet that a node publishes a topic: its messages took numbers and went to no region, and the
    // subscribers waited for them.
    [InlineData(6504)]
    // A member took for lost what it had not heard of: of a sender that was gone, in an older view, from whose leader it was cut off.
    [InlineData(258)]
    // A topic's next messages counted as lost while they lay unread in an older view of a sender that was gone.
    [InlineData(661)]
    [InlineData(1020)]
    // A region went out of a node's sight and came back within one view: the node numbered its packets in it from 1 again.
    [InlineData(78)]
    [InlineData(1752)]
    // The service announced that the remaining members had settled all before it announced the removal: they closed views of which
    // another member lacked what the removed one had sent.
    [InlineData(515)]
    // The keepers of packets of a sender that was gone lacked them. Each decision counted the requests again, so no other member was asked.
    [InlineData(214)]
    // A decision about a sender that was gone went around three times, each time without one member, which waited for it ever after.
    [InlineData(1279)]
    // A service announced a node and ended before that node heard of it. The next service considered it new, and continued with a view in
    // which the members considered it removed: they dropped what it sent.
    [InlineData(2319)]
    public void Seeds_that_once_failed_hold(ulong seed) => new MixedFaults(output, Hardships.None).CheckPinned(seed);

    [Theory]
    // A host that was cut off had removed senders that the others heard on: it refused what it asked for, until the members decided, and
    // was pushed the same packets at each token for seconds.
    [InlineData(246, "Refusals, LoneHost", null)]
    // One lie of a sender about its last number had each member ask for a whole window.
    [InlineData(255, "Standing", "Liar")]
    // A new service that gathered the members of the old one answered no node, and topics that waited for it were not named.
    [InlineData(44, "Standing", "LoneHost")]
    // A service kept what the last configuration had changed, and the regions that nodes had left in it, until the next configuration.
    [InlineData(37, "Interface, StableAndFeeds, LoneHost, Churned", null)]
    // One whose system refused most of what it sent: those that lead rings with it were blamed, and removed.
    [InlineData(39, "Standing", "RefusedSends")]
    [InlineData(48, "Standing", "RefusedSends")]
    // A member of a ring below took the last packets after its ring's leader had, and no member asked again: the sender waited forever.
    [InlineData(63, "LittleMemory, SlowLinks, FullRate, MulticastStops, OtherCluster", null)]
    [InlineData(564, "Replay, Interface, SlowLinks, FullRate, Endings", null)]
    // The one that lost what it sent was removed, and in the same second the healthy leader whom the others had blamed for it.
    [InlineData(7, "Standing", "RefusedSends")]
    // It answered echoes from time to time, and so met everybody; the leader of its ring was removed.
    [InlineData(4, "Standing", "RefusedSends")]
    // Large tokens did not reach a member that answered small probes.
    [InlineData(41, "Standing", "BlackHole")]
    // One that was cut off from half of the others had met all witnesses, and a healthy member was removed for being the newer of two.
    [InlineData(36, "Standing", "PartlyDead")]
    // The first message came before the configuration with its sender, and the next view's counted as that of one that had been away.
    [InlineData(1230, "Replay, LargeMessages, Endings", null)]
    // Spare claims were kept without a limit.
    [InlineData(1913, "BestEffort, StableAndFeeds, LoneHost, Churned", null)]
    // A node that knew of its own removal still heard a removed sender, and passed on its message to one that still knew this node.
    [InlineData(967, "StableAndFeeds, BusyHandlers, MulticastStops", null)]
    // A topic with an address of its own kept the streams of its last run when their views were over.
    [InlineData(1664, "Refusals, StableAndFeeds, NoMulticast, Churned", null)]
    // A large message overtook a shared run of its topic that waited for windows. It was held for the run, and the run was not read beyond
    // what a stream reads behind a packet that is held: forever.
    [InlineData(2542, "FullRate, LargeMessages, StableAndFeeds, Endings, NoMulticast", null)]
    // A publisher with the right came by way of others before it was announced, and counted as one without it: its run never began.
    [InlineData(3, "Sealed, SeveralServers, Rights, Forgeries", null)]
    // A node that was denied the right to subscribe was denied to publish, too, as it asked for both at the same time.
    [InlineData(2, "Sealed, SeveralServers, Rights, Forgeries", null)]
    // A node that had hosted a service of its own continued to seal its echoes under that one's key, and no service could find that
    // datagrams reached it again.
    [InlineData(2382695907, "BestEffort, Standing, Sealed", "DeafDatagrams")]
    // The leader of a ring went in place of a slow member, of which no member had just heard.
    [InlineData(1600, "BestEffort, StableAndFeeds, Standing, Sealed", "Slow")]
    // The last member of a large view learned of one other member after the other that it had closed the view, with a wait for each.
    [InlineData(359, "DeadDatagrams, Endings", null)]
    // The member from which others learn that they agree closed the view at once, and then the next one that found it out: each waited for
    // the token of the one before.
    [InlineData(2779, "LargeMessages, BestEffort, StableAndFeeds, NoMulticast, Sealed, ShortLives", null)]
    // A service whose cluster a publisher was not in did not name it, and a subscriber there forgot how far it had read of it.
    [InlineData(2159, "Sealed, Rights, Forgeries", null)]
    // A node was announced and removed before it heard of that. When it came again, members dropped what it sent in a view of then.
    [InlineData(130, "Replay, SleepingReaders, OtherCluster, Rights, Removals", null)]
    // An opening that waited for the end of an earlier subscription of its node was not named.
    [InlineData(52, "StableAndFeeds, Standing, Sealed", "LoneHost")]
    // Members continued to seal the rest of a view under a key of the old service, which the others had forgotten, as the number of the new
    // service's key was lower.
    [InlineData(1578, "YearsOff, Sealed, AddressChanges, RaisedNumbers", null)]
    // A node held the first message of a topic and had no memory to read it. Its sender counted on it that the node knew where the topic
    // begins, and the node began with a message of a later view.
    [InlineData(2508, "SlowLinks, LargeMessages, StableAndFeeds, BusyHandlers, NoMulticast, OtherOptions, ShortHeap", null)]
    // The last credits of a reader that slept came when all was received, under a key that a former publisher did not have any more.
    [InlineData(668, "Endings, Standing, Sealed", "SleepingReader")]
    // There was no memory for the claim of a feed on messages that had their numbers.
    [InlineData(1117, "DeadDatagrams, Replay, StableAndFeeds, BusyHandlers, Sealed, FewDescriptors, ShortHeap", null)]
    public void Seeds_that_once_failed_under_hardships_hold(ulong seed, string hardships, string? standing)
    {
        StandingFault? fault = standing is null ? null : Enum.Parse<StandingFault>(standing);
        new MixedFaults(output, Enum.Parse<Hardships>(hardships), fault).CheckPinned(seed);
    }
}

/// <param name="output">Where to say what was run.</param>
/// <param name="hardships">What each seed meets besides the kinds that it draws first; null: as drawn.</param>
/// <param name="standing">The fault that stands, where one does; null: as drawn.</param>
/// <param name="pinsTopics">Whether every reliable topic owns its region.</param>
internal sealed class MixedFaults(
    ITestOutputHelper? output, Hardships? hardships = null, StandingFault? standing = null, bool pinsTopics = false)
    : FaultyRun(pinsTopics ? "PinnedTopics" : "MixedFaults", output)
{
    // What a fault that stands does not make harder to judge.
    private const Hardships BesideStanding = Hardships.StableAndFeeds | Hardships.Endings | Hardships.BestEffort | Hardships.YearsOff
        | Hardships.OtherCluster | Hardships.Sealed | Hardships.RaisedNumbers;

    private const Hardships AnyStanding = Hardships.Standing | Hardships.LongNight;

    private const Hardships OfServers = Hardships.StoreFailures | Hardships.SeveralServers;

    private const Hardships WithoutMulticast = Hardships.NoMulticast | Hardships.MulticastStops;

    private const int FewMessages = 16;
    private const long LeastRetention = 1 << 20;
    private const long LeastBufferBytes = 32 << 20;

    // The seconds since 1970 pass what 32 bits hold: incarnations begin from 0 again.
    private static readonly DateTimeOffset IncarnationsWrap = DateTimeOffset.FromUnixTimeSeconds(1L << 32);

    // Several regions for a node as soon as topics differ in their subscribers.
    private static readonly TopicSetRules ManyRegions = new() { RegularOverlaps = 1, NodesToMembershipCost = 1000, FarSetCost = 0 };

    // What a seed draws with shares of its own; what came later is drawn apart, so that this does not change.
    private const FaultKinds FirstKinds = (FaultKinds)(((int)FaultKinds.StrangerPackets << 1) - 1);

    private static readonly int[] PacketSizes = [1472, 1472, 1472, 576, 8972];

    // As much as the largest message needs.
    private const long LeastReassemblyBytes = 16 << 20;
    private const long LeastRepairRateOfLarge = 8 << 20;
    private const int LeastMegabitsOfLarge = 30;

    private static readonly int[] Megabits = [10, 30, 100];
    private static readonly long[] LittleRetention = [1 << 20, 8 << 20, 64 << 20];

    protected override Scene SceneOf(ulong seed)
    {
        var scene = FirstScene(seed);
        scene = scene with { Cluster = scene.Cluster with { PinsTopics = pinsTopics } };
        var drawn = hardships ?? HardshipTable.Asked ?? (HardshipTable.Draw(seed) | HardshipTable.Also);
        if (pinsTopics)
        {
            // A new view waits for all that was sent in the one before it: a faulty sender holds its topic until it is removed.
            drawn &= ~AnyStanding;
        }

        return drawn == Hardships.None ? scene : WithHardships(scene, drawn, seed);
    }

    protected override string SettingsOf(ulong seed)
    {
        var scene = SceneOf(seed);
        return $"QS_HARDSHIPS={scene.Hardships.ToString().Replace(" ", "", StringComparison.Ordinal)}"
            + (scene.Standing is { } fault ? $" QS_STANDING={fault}" : "");
    }

    private Scene WithHardships(Scene scene, Hardships drawn, ulong seed)
    {
        if ((drawn & AnyStanding) != 0)
        {
            var fault = standing ?? StandingFaults.Draw(seed, isLong: !drawn.HasFlag(Hardships.Standing));
            var beside = fault == StandingFault.Liar ? BesideStanding : BesideStanding & ~Hardships.RaisedNumbers;
            // A node that computes nothing for a minute has old keys when it continues.
            var also = fault == StandingFault.Minute ? Hardships.Sealed : Hardships.None;
            var cluster = scene.Cluster with
            {
                Hardships = (drawn & (AnyStanding | beside)) | also,
                HasOddSubscribers = false,
                IsEmbedded = scene.Cluster.IsEmbedded || StandingFaults.IsOfHost(fault),
                ReaderCapacity = fault == StandingFault.SleepingReader ? FewMessages : scene.Cluster.ReaderCapacity,
                // Before what a healthy node waits for must continue, so that of these too it is seen whether they name what they wait for.
                Options = scene.Cluster.Options.Copy(static copy => copy.StallWarning = TimeSpan.FromSeconds(2)),
            };
            return scene with
            {
                Cluster = cluster,
                Standing = fault,
                Kinds = FaultKinds.None,
                DieTalking = false,
                DieUnheard = false,
            };
        }

        return scene with { Cluster = Served(Hardened(scene.Cluster, drawn, seed), scene, seed) };
    }

    private static ClusterSetup Hardened(ClusterSetup easy, Hardships drawn, ulong seed)
    {
        var random = SeededRandom.Derive(seed, purpose: 32, owner: 0);
        int megabits = Megabits[random.Below(Megabits.Length)];
        long retention = LittleRetention[random.Below(LittleRetention.Length)];
        var cluster = easy with { Hardships = drawn, IsEmbedded = easy.IsEmbedded || drawn.HasFlag(Hardships.LoneHost) };
        var options = cluster.Options;
        if (drawn.HasFlag(Hardships.LittleMemory))
        {
            options = options.Copy(copy => (copy.Limits.RetentionBytes, copy.Limits.BufferBytes) = (retention, LeastBufferBytes));
            cluster = cluster with { PoolBytes = LeastBufferBytes, ReassemblyBytes = LeastReassemblyBytes };
        }

        if (drawn.HasFlag(Hardships.LargeMessages))
        {
            // A sender may be four windows ahead of each of many members: with the least rate, repairing them takes minutes.
            long rate = Math.Max(options.Limits.RepairBytesPerSecond, LeastRepairRateOfLarge);
            options = options.Copy(copy => copy.Limits.RepairBytesPerSecond = rate);
        }

        if (drawn.HasFlag(Hardships.SlowLinks))
        {
            // As above: half of the slowest link would be too little.
            int least = drawn.HasFlag(Hardships.LargeMessages) ? LeastMegabitsOfLarge : megabits;
            int bytesPerSecond = Math.Max(megabits, least) * 1_000_000 / 8;
            options = options.Copy(copy => copy.Limits.RepairBytesPerSecond = bytesPerSecond / 2);
            cluster = cluster with { Link = cluster.Link with { BytesPerSecond = bytesPerSecond } };
        }

        if ((drawn & WithoutMulticast) != 0)
        {
            // Embedded services find each other by multicast: without, options must name one.
            options = options.Copy(static copy => copy.Dissemination = new QuickSilverOptions().Dissemination);
            cluster = cluster with { IsEmbedded = false, Hardships = drawn & ~Hardships.LoneHost };
        }

        if (drawn.HasFlag(Hardships.NoMulticast))
        {
            cluster = cluster with { Link = cluster.Link with { MulticastOff = true } };
        }

        if (drawn.HasFlag(Hardships.SleepingReaders))
        {
            cluster = cluster with { ReaderCapacity = FewMessages };
        }

        return cluster with
        {
            Options = options,
            OtherOptions = drawn.HasFlag(Hardships.OtherOptions) ? Other(options, random) : null,
        };
    }

    // What concerns the membership service, once it is known whether nodes host it.
    private static ClusterSetup Served(ClusterSetup cluster, Scene scene, ulong seed)
    {
        var random = SeededRandom.Derive(seed, purpose: 36, owner: 0);
        int servers = 2 + random.Below(2);
        if (cluster.IsEmbedded)
        {
            cluster = cluster with { Hardships = cluster.Hardships & ~OfServers };
        }

        return cluster with
        {
            Servers = cluster.Hardships.HasFlag(Hardships.SeveralServers) ? servers : 1,
            Rights = cluster.Hardships.HasFlag(Hardships.Rights)
                ? new DrawnRights(seed, [.. Enumerable.Range(0, scene.Topics).Select(scene.Topic)])
                : null,
        };
    }

    // What one user of a cluster sets and another does not.
    private static QuickSilverOptions Other(QuickSilverOptions options, SeededRandom random) => options.Copy(other =>
    {
        other.Membership.Hosted.HeartbeatInterval *= 2;
        other.Dissemination = (options.Dissemination, random.Chance(0.5)) switch
        {
            (Dissemination.Auto, _) => Dissemination.Unicast,
            (_, true) => Dissemination.Auto,
            (Dissemination.Unicast, _) => Dissemination.Multicast,
            _ => Dissemination.Unicast,
        };
        other.Limits.RetentionBytes = Math.Max(LeastRetention, options.Limits.RetentionBytes / 4);
        other.PacketBytes = Math.Max(OptionRules.LeastPacketBytes, options.PacketBytes - 100);
    });

    private static Scene FirstScene(ulong seed)
    {
        var random = SeededRandom.Derive(seed, purpose: 21, owner: 0);
        int bundles = 2 + random.Below(4);
        var scene = new Scene
        {
            Kinds = Draw(random),
            Bundles = bundles,
            Topics = bundles * (2 + random.Below(7)),
            Cluster = new ClusterSetup
            {
                Nodes = 4 + random.Below(13),
                IsEmbedded = random.Chance(0.3),
                HasOddSubscribers = random.Chance(0.3),
                Epoch = random.Chance(0.1) ? IncarnationsWrap - TimeSpan.FromSeconds(random.Below(7)) : new SimulationOptions().Epoch,
                TopicSets = random.Chance(0.5)
                    ? new TopicSetRules()
                    : ManyRegions with { MaxSets = 2 + random.Below(13), SmallRegion = 1 + random.Below(5) },
                Options = new QuickSilverOptions
                {
                    // In some runs a pause or a partition can outlast the failure detector.
                    Membership =
                    {
                        Hosted =
                        {
                            HeartbeatInterval = TimeSpan.FromMilliseconds(random.Chance(0.3) ? 100 : 400),
                            Replicas = WholeCluster.Replicas(seed),
                        },
                    },
                    PacketBytes = PacketSizes[random.Below(PacketSizes.Length)],
                    Dissemination = random.Chance(0.2) ? Dissemination.Unicast : Dissemination.Multicast,
                    SegmentationOffload = random.Chance(0.8),
                    Limits = { RepairBytesPerSecond = WholeCluster.RepairRate(seed) },
                    RingSize = WholeCluster.RingSize(seed),
                },
            },
        };
        return scene with
        {
            DieTalking = scene.Kinds.HasFlag(FaultKinds.Crash) && random.Chance(0.5),
            // By the seed's number, so that all that is drawn stays as it is in the others.
            DieUnheard = seed % 5 == 0,
            BridgeShare = seed % 7 == 0 ? 0.5 : 0,
        };
    }

    // From one kind to all of them: with many at once little gets through, with few there is much to go wrong.
    private static FaultKinds Draw(SeededRandom random)
    {
        double share = random.NextUnit();
        var kinds = FaultKinds.None;
        for (int bit = 1; bit <= (int)FaultKinds.StrangerPackets; bit <<= 1)
        {
            kinds |= random.Chance(share) ? (FaultKinds)bit : FaultKinds.None;
        }

        return kinds == FaultKinds.None ? FirstKinds : kinds;
    }
}
