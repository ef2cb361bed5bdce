namespace QuickSilver.Processes.Tests.Lab.Network;

// Frames of one directed pair, as the wire would count them. Written by the switch's thread alone; a reader may be a
// moment behind. At rest: Offered + Duplicated = Forwarded + Lost + Blocked + Overflowed + Held.
internal sealed class LinkCounters
{
    private long _offered;
    private long _forwarded;
    private long _lost;
    private long _tooLarge;
    private long _duplicated;
    private long _reordered;
    private long _blocked;
    private long _overflowed;
    private long _held;
    private long _unicastBytes;

    public long Offered { get => Volatile.Read(ref _offered); set => Volatile.Write(ref _offered, value); }

    public long Forwarded { get => Volatile.Read(ref _forwarded); set => Volatile.Write(ref _forwarded, value); }

    public long Lost { get => Volatile.Read(ref _lost); set => Volatile.Write(ref _lost, value); }

    /// <summary>Of those that were lost.</summary>
    public long TooLarge { get => Volatile.Read(ref _tooLarge); set => Volatile.Write(ref _tooLarge, value); }

    public long Duplicated { get => Volatile.Read(ref _duplicated); set => Volatile.Write(ref _duplicated, value); }

    public long Reordered { get => Volatile.Read(ref _reordered); set => Volatile.Write(ref _reordered, value); }

    public long Blocked { get => Volatile.Read(ref _blocked); set => Volatile.Write(ref _blocked, value); }

    public long Overflowed { get => Volatile.Read(ref _overflowed); set => Volatile.Write(ref _overflowed, value); }

    public long Held { get => Volatile.Read(ref _held); set => Volatile.Write(ref _held, value); }

    /// <summary>Of packets forwarded or held to one node alone, with the header of IP.</summary>
    public long UnicastBytes { get => Volatile.Read(ref _unicastBytes); set => Volatile.Write(ref _unicastBytes, value); }

    public bool Balance => Offered + Duplicated == Forwarded + Lost + Blocked + Overflowed + Held;

    public override string ToString() =>
        $"offered {Offered}, forwarded {Forwarded}, lost {Lost}, duplicated {Duplicated}, reordered {Reordered}, "
        + $"blocked {Blocked}, overflowed {Overflowed}, held {Held}";
}
