namespace QuickSilver.Processes.Tests.Lab.Network;

// What one direction between two nodes does to frames. Percentages are of frames, each decided on its own.
internal sealed record Impairment
{
    public static readonly Impairment None = new();

    public double LossPercent { get; init; }

    public double DuplicatePercent { get; init; }

    public TimeSpan Delay { get; init; }

    /// <summary>From zero to this much more delay, evenly spread, so frames overtake each other.</summary>
    public TimeSpan Jitter { get; init; }

    /// <summary>This part of the frames is held back by <see cref="Hold"/>, so that later ones overtake them.</summary>
    public double ReorderPercent { get; init; }

    public TimeSpan Hold { get; init; } = TimeSpan.FromMilliseconds(1);

    /// <summary>Larger packets, the header of IP included, are lost without notice, as on a path with this MTU. Zero: all pass.</summary>
    public int MtuBytes { get; init; }

    /// <summary>Nothing passes in this direction: one half of a partition.</summary>
    public bool Blocked { get; init; }

    /// <summary>IP multicast stops while unicast still works.</summary>
    public bool MulticastOff { get; init; }

    /// <summary>True when frames may pass untouched, whole runs at a time.</summary>
    public bool IsHarmless =>
        MtuBytes == 0 && LossPercent <= 0 && DuplicatePercent <= 0 && ReorderPercent <= 0
        && Delay <= TimeSpan.Zero && Jitter <= TimeSpan.Zero;

    public bool Stops(bool multicast) => Blocked || (multicast && MulticastOff);

    public bool IsTooLarge(int packetBytes) => MtuBytes > 0 && packetBytes > MtuBytes;
}
