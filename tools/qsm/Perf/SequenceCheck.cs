namespace QuickSilver.Tool.Perf;

// Holds what was delivered of one topic against its senders' numbering. Each sender counts from 1, so the next number
// is always known: a higher one skipped some (gaps), a lower one was here before (duplicates; an overtaken message counts
// as a gap and then as a duplicate, for neither may be).
internal sealed class SequenceCheck
{
    private readonly List<Lane> _lanes = [];
    private Lane? _current;

    /// <summary>Whether a sender has said that it has ended.</summary>
    public bool Ended { get; private set; }

    /// <summary>Takes a message or end marker; returns how many before it are missing, and whether it is one too many.</summary>
    public (long Missing, bool Duplicate) Take(SenderId sender, long sequence)
    {
        Lane lane = LaneOf(sender);
        if (PerfMessage.IsEnd(sequence))
        {
            bool again = lane.Ended;
            lane.Ended = Ended = true;
            long unseen = Math.Max(0, PerfMessage.LastSequence(sequence) - (lane.Next - 1));
            lane.Next += unseen;
            return (unseen, again);
        }

        if (sequence < lane.Next)
        {
            return (0, true);
        }

        long missing = sequence - lane.Next;
        lane.Next = sequence + 1;
        return (missing, false);
    }

    private Lane LaneOf(SenderId sender)
    {
        if (_current is { } lane && lane.Sender == sender)
        {
            return lane;
        }

        foreach (Lane known in _lanes)
        {
            if (known.Sender == sender)
            {
                return _current = known;
            }
        }

        _lanes.Add(_current = new Lane(sender));
        return _current;
    }

    private sealed class Lane(SenderId sender)
    {
        public SenderId Sender { get; } = sender;

        public long Next { get; set; } = 1;

        public bool Ended { get; set; }
    }
}
