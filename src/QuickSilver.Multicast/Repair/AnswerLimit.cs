namespace QuickSilver.Multicast.Repair;

// How far one pull is answered: so many packets, and so many numbers looked at for them. Its ranges ascend and do not overlap;
// what one claims again is not looked at again.
internal struct AnswerLimit(int packets)
{
    // Packets that went to the asker just now are passed over; the rest is asked for again.
    private const int LooksPerPacket = 4;

    private long _after;

    public int Packets { get; private set; } = packets;

    /// <summary>Numbers that may still be looked at.</summary>
    public int Looks { get; private set; } = packets * LooksPerPacket;

    public readonly bool IsSpent => Packets <= 0 || Looks <= 0;

    /// <summary>Of a range what is to be looked at, within what there is; First is after Last where that is nothing.</summary>
    public (long First, long Last) Next(long first, long last, long oldest, long newest)
    {
        first = Math.Max(Math.Max(first, oldest), _after + 1);
        last = Math.Min(Math.Min(last, newest), first + Looks - 1);
        if (first <= last)
        {
            Looks -= (int)(last - first + 1);
            _after = last;
        }

        return (first, last);
    }

    public void NoteAnswer() => Packets--;
}
