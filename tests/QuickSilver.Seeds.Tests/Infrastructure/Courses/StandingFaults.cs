using QuickSilver.Simulation.Checkers.Records;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Seeds.Tests.Infrastructure.Courses;

// What one node has, for as long as it stands, while the others must continue (I22 to I24).
internal enum StandingFault
{
    // F19: its datagrams vanish, both ways or one way; or those between it and half of the others.
    DeadDatagrams,
    DeafDatagrams,
    MuteDatagrams,
    PartlyDead,

    // F20: what its system refuses.
    RefusedGroups,
    RefusedSends,

    // F24: one reader does not read.
    SleepingReader,

    // F22: control packets with absurd numbers.
    Liar,

    // F3: it is cut off, and so alone; it hosts the membership service and is cut off.
    CutOff,
    LoneHost,

    // F12: it is in no group.
    OutOfGroups,

    // F11, F15, F6, F7: large datagrams do not reach it; it answers no requests for repair; it stands still; it is slow.
    BlackHole,
    DeafToRepair,
    Paused,
    Slow,

    // F26: its address changes permanently, as that of a node or of the one that hosts the membership service; no stream passes between it
    // and others, while datagrams do.
    AddressChange,
    HostAddressChange,
    NoStreams,
    HostWithoutStreams,

    // F6: the process computes nothing for a minute.
    Minute,
}

internal static class StandingFaults
{
    private const double LieShare = 0.05;
    private const double RaisedShare = 0.2;
    private const int LargestDatagram = 500;

    private const bool Yes = true;
    private const bool NotHere = false;

    private static readonly TimeSpan Slowness = TimeSpan.FromMilliseconds(1);

    private static readonly (StandingFault Fault, bool IsDrawn)[] All =
    [
        (StandingFault.DeadDatagrams, Yes),
        (StandingFault.DeafDatagrams, Yes),
        (StandingFault.MuteDatagrams, Yes),
        (StandingFault.PartlyDead, Yes),
        (StandingFault.RefusedGroups, Yes),
        (StandingFault.RefusedSends, Yes),
        (StandingFault.SleepingReader, Yes),
        (StandingFault.Liar, Yes),
        (StandingFault.CutOff, Yes),
        (StandingFault.LoneHost, Yes),
        (StandingFault.OutOfGroups, Yes),
        (StandingFault.BlackHole, Yes),
        (StandingFault.DeafToRepair, Yes),
        (StandingFault.Paused, Yes),
        (StandingFault.Slow, Yes),
        // LongNight draws these.
        (StandingFault.AddressChange, NotHere),
        (StandingFault.HostAddressChange, NotHere),
        (StandingFault.NoStreams, NotHere),
        (StandingFault.HostWithoutStreams, NotHere),
        (StandingFault.Minute, NotHere),
    ];

    /// <summary>Drawn from the seed; or what QS_STANDING names.</summary>
    /// <param name="seed">The seed.</param>
    /// <param name="isLong">Whether it is one of those that stand for a minute.</param>
    public static StandingFault Draw(ulong seed, bool isLong)
    {
        if (Environment.GetEnvironmentVariable("QS_STANDING") is { Length: > 0 } name)
        {
            return Enum.Parse<StandingFault>(name, ignoreCase: true);
        }

        var drawn = Array.FindAll(All, entry => entry.IsDrawn != isLong);
        return drawn[SeededRandom.Derive(seed, purpose: 27, owner: isLong ? 1UL : 0).Below(drawn.Length)].Fault;
    }

    /// <summary>Breaks the victim until all is healed.</summary>
    public static void Begin(WholeCluster cluster, StandingFault fault, SimulatedMachine victim, SeededRandom random)
    {
        var network = cluster.Simulation.Network;
        int[] others = [.. cluster.Simulation.Nodes.Select(node => node.Number).Where(number => number != victim.Number)];
        var faults = victim.Faults;
        switch (fault)
        {
            case StandingFault.DeadDatagrams:
                faults.HearsNoDatagrams = faults.SendsNoDatagrams = true;
                break;
            case StandingFault.DeafDatagrams:
                faults.HearsNoDatagrams = true;
                break;
            case StandingFault.MuteDatagrams:
                faults.SendsNoDatagrams = true;
                break;
            case StandingFault.PartlyDead:
                // Of two that only do not hear each other, either may count as the broken one.
                var dead = others.Where(_ => random.Chance(0.5)).ToHashSet();
                dead.UnionWith(dead.Count == 1 ? others : []);
                network.Filter = (link, _) => (link.From == victim && dead.Contains(link.To.Number))
                    || (link.To == victim && dead.Contains(link.From.Number));
                break;
            case StandingFault.RefusedGroups:
                faults.Refusals.Begin(SystemCalls.OpenGroup);
                break;
            case StandingFault.RefusedSends:
                faults.Refusals.Begin(SystemCalls.Send, random.NextUnit());
                break;
            case StandingFault.SleepingReader:
                cluster.AreReadersAsleep = true;
                break;
            case StandingFault.Liar:
                bool raises = cluster.Setup.Hardships.HasFlag(Hardships.RaisedNumbers);
                NightCourses.BeginToRaise(victim, LieShare, raises ? RaisedShare : 0);
                break;
            case StandingFault.CutOff:
            case StandingFault.LoneHost:
                network.Partition([victim.Number], others);
                break;
            case StandingFault.OutOfGroups:
                faults.IsOutOfGroups = true;
                break;
            case StandingFault.BlackHole:
                faults.InboundLargestBytes = LargestDatagram;
                break;
            case StandingFault.DeafToRepair:
                faults.IsDeafToRepair = true;
                break;
            case StandingFault.AddressChange:
            case StandingFault.HostAddressChange:
                victim.ChangeAddress();
                break;
            case StandingFault.NoStreams:
            case StandingFault.HostWithoutStreams:
                faults.HasNoStreams = true;
                break;
            case StandingFault.Paused:
            case StandingFault.Minute:
                victim.Pause();
                break;
            case StandingFault.Slow:
                faults.Slowness = Slowness;
                break;
            default:
                throw new InvariantException($"{fault} is not known.");
        }
    }

    /// <summary>Whether what the victim lacks counts as lost: nothing is sent to a node in no group.</summary>
    public static bool CountsLosses(StandingFault fault) => fault != StandingFault.RefusedGroups;

    /// <summary>Whether it is one of those that end a node, or the service that it hosts, and stand for a minute.</summary>
    public static bool IsLong(StandingFault fault) => !Array.Find(All, entry => entry.Fault == fault).IsDrawn;

    /// <summary>Whether it happens to the node that hosts the membership service.</summary>
    public static bool IsOfHost(StandingFault fault) =>
        fault is StandingFault.LoneHost or StandingFault.HostAddressChange or StandingFault.HostWithoutStreams;

    /// <summary>Whether the victim itself must be ready again while the fault stands.</summary>
    public static bool IsMended(StandingFault fault) => fault is StandingFault.AddressChange or StandingFault.HostAddressChange;

    /// <summary>Whether nothing of the victim's is promised any more: a process that lied is begun again.</summary>
    public static bool EndsLife(StandingFault fault) => fault == StandingFault.Liar;
}
