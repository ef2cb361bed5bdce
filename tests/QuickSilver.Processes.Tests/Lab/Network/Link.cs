using System.Diagnostics;

namespace QuickSilver.Processes.Tests.Lab.Network;

// One directed pair of nodes. The n-th frame of a pair draws from (seed, from, to, n, kind of harm), never from a shared
// stream: so which frames are lost depends neither on timing, nor on other pairs, nor on which other harms are set.
// UDP is numbered and counted apart from the rest, so that TCP, ARP and IGMP beside it, which come when they like, move
// no decision about a datagram and blur no figure.
internal sealed class Link(ulong seed, int from, int to)
{
    private readonly ulong _key = Mix(Mix(seed) ^ (ulong)((from << 16) | (to << 8)));
    private readonly ulong[] _seen = new ulong[2];
    private Impairment _impairment = Impairment.None;

    private enum Draw : ulong
    {
        Loss = 1,
        Duplicate,
        Reorder,
        Jitter,
        JitterOfDuplicate,
    }

    /// <summary>May be changed from any thread; the switch reads it once per frame.</summary>
    public Impairment Impairment
    {
        get => Volatile.Read(ref _impairment);
        set => Volatile.Write(ref _impairment, value);
    }

    /// <summary>Of UDP frames.</summary>
    public LinkCounters Counters { get; } = new();

    /// <summary>Of all other frames.</summary>
    public LinkCounters OtherCounters { get; } = new();

    /// <summary>Lets frames through that no harm concerns; their numbers count on.</summary>
    public void PassUntouched(Frame frame, int frames)
    {
        _seen[frame.IsUdp ? 1 : 0] += (ulong)frames;
        var counters = CountersOf(frame.IsUdp);
        counters.Offered += frames;
        counters.Forwarded += frames;
        counters.UnicastBytes += frame.IsForMany ? 0 : frame.PacketBytes;
    }

    public LinkCounters CountersOf(bool isUdp) => isUdp ? Counters : OtherCounters;

    public Fate Decide(Impairment impairment, Frame frame)
    {
        var isUdp = frame.IsUdp;
        var kind = isUdp ? 1 : 0;
        var at = Mix(_key + (ulong)kind + (_seen[kind]++ * 0xD1342543DE82EF95));
        var counters = CountersOf(isUdp);
        counters.Offered++;
        if (impairment.Stops(frame.IsIpMulticast))
        {
            counters.Blocked++;
            return default;
        }

        if (impairment.IsTooLarge(frame.PacketBytes))
        {
            counters.Lost++;
            counters.TooLarge++;
            return default;
        }

        if (Hits(at, Draw.Loss, impairment.LossPercent))
        {
            counters.Lost++;
            return default;
        }

        counters.UnicastBytes += frame.IsForMany ? 0 : frame.PacketBytes;
        var duplicated = Hits(at, Draw.Duplicate, impairment.DuplicatePercent);
        var held = Hits(at, Draw.Reorder, impairment.ReorderPercent);
        counters.Duplicated += duplicated ? 1 : 0;
        counters.Reordered += held ? 1 : 0;
        var delay = impairment.Delay + (held ? impairment.Hold : TimeSpan.Zero);
        return new Fate(
            duplicated ? 2 : 1,
            Ticks(delay + (impairment.Jitter * Chance(at, Draw.Jitter))),
            Ticks(impairment.Delay + (impairment.Jitter * Chance(at, Draw.JitterOfDuplicate))));
    }

    private static long Ticks(TimeSpan time) => (long)(time.TotalSeconds * Stopwatch.Frequency);

    private static bool Hits(ulong at, Draw draw, double percent) => percent > 0 && Chance(at, draw) * 100 < percent;

    private static double Chance(ulong at, Draw draw) => (Mix(at ^ ((ulong)draw << 56)) >> 11) * (1.0 / (1UL << 53));

    // The finalizer of SplitMix64: every bit of the input moves every bit of the output.
    private static ulong Mix(ulong x)
    {
        x += 0x9E3779B97F4A7C15;
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
        return x ^ (x >> 31);
    }
}

// How often a frame arrives, and how many stopwatch ticks later each time. No copies: it never does.
internal readonly record struct Fate(int Copies, long DelayTicks, long SecondDelayTicks);
