namespace QuickSilver.Tool.Perf;

// Holds what was delivered of one topic against its senders' numbering. Each sender counts from 1, so the next number
// is always known: a higher one skipped some (gaps), a lower one was here before (duplicates; an overtaken message counts
// as a gap and then as a duplicate, for neither may be).
//
// A mutable struct, and the first sender's run a field of it: a message looks at nothing else.
internal struct SequenceCheck
{
    private SenderRun _first;
    private Dictionary<NodeId, OtherRun>? _others;
    // Messages of one sender mostly come together.
    private OtherRun? _lastOther;

    public SequenceCheck()
    {
        _first.Next = 1;
    }

    /// <summary>Whether a sender has said that it has ended.</summary>
    public readonly bool Ended => EndedSenders > 0;

    /// <summary>How many senders have said that they have ended.</summary>
    public int EndedSenders { get; private set; }

    /// <summary>Takes a message or end marker; returns how many before it are missing, and whether it is one too many.</summary>
    public (long Missing, bool Duplicate) Take(NodeId sender, long sequence)
    {
        if (_first.Sender == default)
        {
            _first.Sender = sender;
        }

        return _first.Sender == sender ? Take(ref _first, sequence) : TakeOther(sender, sequence);
    }

    /// <summary>The number of the last message of each sender.</summary>
    public readonly Dictionary<NodeId, long> Last()
    {
        var last = new Dictionary<NodeId, long> { [_first.Sender] = _first.Next - 1 };
        foreach (var (sender, other) in _others ?? [])
        {
            last.Add(sender, other.Run.Next - 1);
        }

        return last;
    }

    private (long Missing, bool Duplicate) TakeOther(NodeId sender, long sequence)
    {
        if (_lastOther?.Run.Sender != sender)
        {
            _others ??= [];
            if (!_others.TryGetValue(sender, out _lastOther))
            {
                _lastOther = new OtherRun { Run = new SenderRun { Sender = sender, Next = 1 } };
                _others.Add(sender, _lastOther);
            }
        }

        return Take(ref _lastOther.Run, sequence);
    }

    private (long Missing, bool Duplicate) Take(ref SenderRun run, long sequence)
    {
        if (PerfMessage.IsEnd(sequence))
        {
            bool again = run.Ended;
            run.Ended = true;
            EndedSenders += again ? 0 : 1;
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
    private sealed class OtherRun
    {
        // A field, so that it is changed in place.
        public SenderRun Run;
    }
}
