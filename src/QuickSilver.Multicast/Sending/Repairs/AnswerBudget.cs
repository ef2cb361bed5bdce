namespace QuickSilver.Multicast.Sending.Repairs;

// What the answer to one pull may still take: a number of packets, and a number of sequence numbers that may be examined for them (T10,
// T12). The ranges of a pull ascend and do not overlap; a number that a range repeats is not examined again.
internal struct AnswerBudget(int packets)
{
    // Packets that went to the requester a moment ago are skipped; it requests the rest again.
    private const int LooksPerPacket = 4;

    private long _after;

    public int Packets { get; private set; } = packets;

    /// <summary>Numbers that may still be examined.</summary>
    public int Looks { get; private set; } = packets * LooksPerPacket;

    public readonly bool IsSpent => Packets <= 0 || Looks <= 0;

    /// <summary>
    /// Clips a range to the numbers that are available and may be examined. First is greater than Last if nothing remains.
    /// </summary>
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
