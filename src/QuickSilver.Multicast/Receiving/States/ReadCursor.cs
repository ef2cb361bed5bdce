namespace QuickSilver.Multicast.Receiving.States;

// How far one member has read a stream: which packets are parsed, and of which all messages were accepted above.
//
// If a fast stream waits for the layer above, most of the many packets that follow would only be held there, message by message. So at the
// limit of packets that are parsed and not consumed the stream is held up: no more are parsed until all of them are consumed, so that most
// packets are parsed when their messages can be passed on. Where the heap has no memory for a message, the stream starves: no packet is
// parsed until there is memory again. Packets that are read before their turn, because they may contain the beginning of a topic, may have
// been refused then.
//
// Invariant: Consumed <= Parsed.
internal struct ReadCursor
{
    // How many packets are read behind a packet that is not consumed.
    private const int ReadAhead = 32;

    // The last packet that was read before its turn, or had to be, and for which there was no memory; 0: there is none.
    private long _refusedThrough;

    /// <summary>All messages in packets up to here were accepted above.</summary>
    public long Consumed { get; private set; }

    /// <summary>All packets up to here are parsed.</summary>
    public long Parsed { get; private set; }

    /// <summary>Whether the limit of packets that are parsed and not consumed is reached.</summary>
    public bool IsHeldUp { get; private set; }

    /// <summary>Whether the heap had no memory for a message.</summary>
    public bool IsStarved { get; private set; }

    /// <summary>Whether packets were refused that are not parsed yet.</summary>
    public readonly bool HidesRefused => _refusedThrough > Parsed;

    /// <summary>Whether a packet that has come may be parsed before its turn.</summary>
    public readonly bool MayRead(long packet) => !IsHeldUp && !IsStarved && packet - Consumed <= ReadAhead;

    /// <summary>The stream continues behind this packet.</summary>
    public void SkipTo(long through) => Parsed = Consumed = through;

    public void Parse() => Parsed++;

    public void Consume() => Consumed++;

    /// <summary>Looks whether the stream is held up. An unreliable one never is.</summary>
    public void HoldUp(bool isReliable) => IsHeldUp = isReliable && Parsed - Consumed >= (IsHeldUp ? 1 : ReadAhead);

    /// <summary>There was no memory for a message of this packet: nothing is parsed until there is.</summary>
    public void Starve(long packet)
    {
        IsStarved = true;
        Refuse(packet);
    }

    /// <summary>There is memory again, perhaps.</summary>
    public void EndStarving() => IsStarved = false;

    /// <summary>There was no memory for this packet, which was read before its turn.</summary>
    public void Refuse(long packet) => _refusedThrough = Math.Max(_refusedThrough, packet);

    /// <summary>Takes the refused packets, to read them again. Returns the last of them; 0: there is none.</summary>
    public long TakeRefused()
    {
        long through = _refusedThrough;
        _refusedThrough = 0;
        return through;
    }

    /// <summary>Whether a packet was refused since the refused ones were taken.</summary>
    public readonly bool IsAnyRefused => _refusedThrough != 0;
}
