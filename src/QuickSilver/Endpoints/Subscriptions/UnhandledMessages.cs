using QuickSilver.Diagnostics;

namespace QuickSilver.Endpoints.Subscriptions;

// The messages that had come for a subscriber and that it did not handle before it ended, as ranges of each sender; or, with another
// reason, those that it lost before. Not thread-safe.
internal sealed class UnhandledMessages(GapReason reason = GapReason.SubscriberEnded)
{
    private const int MostInWords = 8;
    // Messages of so many senders may alternate, and still become one range for each.
    private const int MostOpenRanges = 16;

    private readonly List<GapNotice> _ranges = [];

    public long Count { get; private set; }

    public void Add(NodeId sender, long sequence) => Add(new GapNotice(sender, sequence, sequence, reason));

    /// <summary>Adds a gap, unless it has another reason.</summary>
    public void Add(in GapNotice gap)
    {
        if (gap.Reason == reason)
        {
            Count += gap.Count;
            if (!TryExtend(gap))
            {
                _ranges.Add(gap);
            }
        }
    }

    public void AddAll(IEnumerable<GapNotice> gaps)
    {
        foreach (var gap in gaps)
        {
            Add(gap);
        }
    }

    /// <summary>The ranges in the order of their senders and numbers. Adjacent ones are joined.</summary>
    public IReadOnlyList<GapNotice> Ranges()
    {
        var joined = new List<GapNotice>();
        foreach (var range in _ranges.OrderBy(static one => (one.Sender.Id, one.Sender.Incarnation, one.First)))
        {
            if (joined.Count > 0 && joined[^1] is var last && last.Sender == range.Sender && last.Last + 1 == range.First)
            {
                joined[^1] = last with { Last = range.Last };
            }
            else
            {
                joined.Add(range);
            }
        }

        return joined;
    }

    // There may be a million messages, one after the other.
    private bool TryExtend(in GapNotice gap)
    {
        int least = Math.Max(0, _ranges.Count - MostOpenRanges);
        for (int i = _ranges.Count - 1; i >= least; i--)
        {
            if (_ranges[i] is var range && range.Sender == gap.Sender && range.Last + 1 == gap.First)
            {
                _ranges[i] = range with { Last = gap.Last };
                return true;
            }
        }

        return false;
    }

    /// <summary>From any thread that uses this alone: counts and logs the messages, if there are any.</summary>
    public void Report(IEndpointNode node, string topic)
    {
        if (Count > 0)
        {
            Interlocked.Add(ref node.CounterCells.Unhandled, Count);
            ApiLog.Unhandled(node.Log, topic, Count, InWords(node));
        }
    }

    /// <summary>From any thread that uses this alone: logs messages that were counted when they were dropped, if there are any.</summary>
    public void ReportDropped(IEndpointNode node, string topic)
    {
        if (Count > 0)
        {
            ApiLog.DroppedUnread(node.Log, topic, Count, InWords(node));
        }
    }

    private string InWords(IEndpointNode node)
    {
        var ranges = Ranges();
        string words = string.Join(", ", ranges.Take(MostInWords).Select(range => InWords(node, range)));
        return ranges.Count > MostInWords ? $"{words} and {ranges.Count - MostInWords} more ranges" : words;
    }

    private static string InWords(IEndpointNode node, GapNotice range)
    {
        var sender = node.Named(range.Sender);
        return range.First == range.Last ? $"{range.First} of {sender}" : $"{range.First} to {range.Last} of {sender}";
    }
}
