using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.Ordering.Pinned;

// Reports to the sink of a pinned topic how far the messages of each sender are stable: all members of the view hold them, so those that
// are left of the view deliver them, whatever fails. Reported between the messages, after the last one that it is about.
//
// What is stable is known of packets. A message that was taken is in a packet that had arrived by then. So from time to time the number of
// the last message that was taken is noted with the last packet that had arrived, and when that packet is stable, so are the messages. This
// costs nothing per message.
//
// Invariants: a number is reported after its message was taken. All members of the view hold the messages up to it, or pass from this view
// to the next without those that they lack. The numbers of a sender increase.
internal sealed class StableReports(IDeliverySink sink, NodeContext context)
{
    private readonly Dictionary<NodeKey, Run> _runs = [];
    private readonly List<ConsumedStream> _ahead = [];
    // Those of the view that is installed.
    private readonly List<(NodeKey Sender, long Taken)> _departed = [];

    /// <summary>Called when more of a stream is stable.</summary>
    public void OnStable(ConsumedStream stream, long taken)
    {
        var run = RunOf(stream.Sender);
        run.Begin(stream);
        ReportNoted(stream.Sender, run, taken);
    }

    /// <summary>Called when more of a stream is stable whose view is not installed yet.</summary>
    public void OnAhead(ConsumedStream stream)
    {
        if (!_ahead.Contains(stream))
        {
            _ahead.Add(stream);
        }
    }

    /// <summary>The streams of which something became stable before their view was installed.</summary>
    public ConsumedStream[] TakeAhead()
    {
        ConsumedStream[] ahead = [.. _ahead];
        _ahead.Clear();
        return ahead;
    }

    /// <summary>Called when messages that had waited for room were taken, of which all may be stable by now.</summary>
    public void OnTaken(NodeKey sender, long taken)
    {
        if (_runs.GetValueOrDefault(sender) is { } run)
        {
            ReportNoted(sender, run, taken);
        }
    }

    /// <summary>
    /// Called when all messages of a view were taken and the next one is about to be installed. The members of both have delivered the same
    /// messages.
    /// </summary>
    public void OnViewEnds(IEnumerable<(NodeKey Sender, long Taken)> runs)
    {
        foreach (var (sender, taken) in runs)
        {
            var run = RunOf(sender);
            run.End();
            Report(sender, run, taken);
        }

        for (int i = 0; i < _departed.Count; i++)
        {
            var (sender, taken) = _departed[i];
            Report(sender, RunOf(sender), taken);
            _runs.Remove(sender);
        }

        _departed.Clear();
    }

    /// <summary>Called when a sender is gone and all of it has come. What is not known to be stable is so when the view ends.</summary>
    public void OnDeparted(NodeKey sender, long taken)
    {
        if (_runs.GetValueOrDefault(sender)?.Reported >= taken)
        {
            _runs.Remove(sender);
        }
        else
        {
            _departed.Add((sender, taken));
        }
    }

    private Run RunOf(NodeKey sender)
    {
        if (!_runs.TryGetValue(sender, out var run))
        {
            _runs.Add(sender, run = new Run());
        }

        return run;
    }

    private void ReportNoted(NodeKey sender, Run run, long taken)
    {
        run.Note(taken);
        Report(sender, run, run.TakeStable());
    }

    private void Report(NodeKey sender, Run run, long through)
    {
        if (through <= run.Reported)
        {
            return;
        }

        run.Reported = through;
        try
        {
            sink.OnStable(sender, through);
        }
        catch (Exception)
        {
            context.Counters.SinkExceptions++;
        }
    }

    private sealed class Run
    {
        // A mark and its stability are a round of the tracker apart, or a few.
        private const int MostMarks = 8;

        private readonly Queue<(long Packet, long Message)> _marks = new();
        private ConsumedStream? _stream;
        private long _noted;

        public long Reported { get; set; }

        /// <summary>The sender continues in this stream. The numbers of its packets begin again, those of its messages do not.</summary>
        public void Begin(ConsumedStream stream)
        {
            if (_stream != stream)
            {
                _stream = stream;
                _marks.Clear();
                _noted = 0;
            }
        }

        public void End()
        {
            _stream = null;
            _marks.Clear();
        }

        /// <summary>Notes the last message that was taken. While there is no place for a mark, the next one stands for it.</summary>
        public void Note(long taken)
        {
            if (_stream is not null && taken > _noted && taken > Reported && _marks.Count < MostMarks)
            {
                _noted = taken;
                _marks.Enqueue((_stream.Arrived, taken));
            }
        }

        /// <summary>The last message that is stable now.</summary>
        public long TakeStable()
        {
            long through = 0;
            while (_stream is not null && _marks.TryPeek(out var mark) && mark.Packet <= _stream.Stable)
            {
                through = mark.Message;
                _marks.Dequeue();
            }

            return through;
        }
    }
}
