namespace QuickSilver.Tool.Perf;

// Holds what was delivered of one topic against its senders' numbering. Each sender counts from 1, so the next number
// is always known: a higher one skipped some (gaps), a lower one was here before (duplicates; an overtaken message counts
// as a gap and then as a duplicate, for neither may be).
//
// A mutable struct, and the first sender's run a field of it: a message looks at nothing else.
internal struct SequenceCheck
{
    private SenderRun _first;
    private Dictionary<NodeId, SenderRun>? _others;

    public SequenceCheck()
    {
        _first.Next = 1;
    }

    /// <summary>Whether a sender has said that it has ended.</summary>
    public bool Ended { get; private set; }

    /// <summary>Takes a message or end marker; returns how many before it are missing, and whether it is one too many.</summary>
    public (long Missing, bool Duplicate) Take(NodeId sender, long sequence)
    {
        if (_first.Sender == default)
        {
            _first.Sender = sender;
        }

        return _first.Sender == sender ? Take(ref _first, sequence) : TakeOther(sender, sequence);
    }

    private (long Missing, bool Duplicate) TakeOther(NodeId sender, long sequence)
    {
        _others ??= [];
        if (!_others.TryGetValue(sender, out var run))
        {
            run = new SenderRun { Sender = sender, Next = 1 };
        }

        var outcome = Take(ref run, sequence);
        _others[sender] = run;
        return outcome;
    }

    private (long Missing, bool Duplicate) Take(ref SenderRun run, long sequence)
    {
        if (PerfMessage.IsEnd(sequence))
        {
            bool again = run.Ended;
            run.Ended = Ended = true;
            long unseen = Math.Max(0, PerfMessage.LastSequence(sequence) - (run.Next - 1));
            run.Next += unseen;
            return (unseen, again);
        }

        if (sequence < run.Next)
        {
            return (0, true);
        }

        long missing = sequence - run.Next;
        run.Next = sequence + 1;
        return (missing, false);
    }

    private struct SenderRun
    {
        public NodeId Sender;
        public long Next;
        public bool Ended;
    }
}
