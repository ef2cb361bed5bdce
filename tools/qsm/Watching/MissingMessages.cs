using QuickSilver.Core.Diagnostics;
using QuickSilver.Serialization;
using QuickSilver.Tool.Catalog;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Watching;

// Messages that are not printed: gaps, messages that cannot be shown, and what was dropped because the output was read too slowly. All make
// the command fail at its end. Gaps are reported as they happen; what is dropped is counted, and reported from time to time, also while the
// output stands still.
internal sealed class MissingMessages(QuickSilverNode node)
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private int _any;
    private long _reported;
    private int _isReporting;
    private volatile bool _isOver;
    private long _droppedInTime;
    private long _before;

    public bool IsEmpty => Volatile.Read(ref _any) == 0 && Dropped == 0;

    private long Dropped => _isOver ? _droppedInTime : node.GetCounters().ReaderDrops - Volatile.Read(ref _before);

    public void Add(string topic, NodeId sender, long sequence, PayloadFormatException exception)
    {
        Volatile.Write(ref _any, 1);
        Terminal.Error($"message {sequence} of {Named(sender)} in {SafeText.Of(topic)} is not shown: {exception.Message}");
    }

    public void Add(string topic, GapNotice gap)
    {
        if (_isOver || gap.Reason == GapReason.ReaderFull)
        {
            return;
        }

        Volatile.Write(ref _any, 1);
        Terminal.Error(
            $"gap in {SafeText.Of(topic)}: {Counted.Of(gap.Count, "message")} of {Named(gap.Sender)}, {gap.First} to {gap.Last}: "
            + gap.Reason.InWords());
    }

    /// <summary>
    /// Messages that came to a topic between its opening and its reader were dropped: they are not missed, as those before them are not.
    /// </summary>
    public void AddBefore(GapNotice gap)
    {
        if (gap.Reason == GapReason.ReaderFull)
        {
            Interlocked.Add(ref _before, gap.Count);
        }
    }

    /// <summary>All that was asked for is written, or a signal has come: what is dropped from now on is not missed.</summary>
    public void End()
    {
        _droppedInTime = Dropped;
        _isOver = true;
    }

    /// <summary>The output stood still until the end.</summary>
    public void AddUnwritten()
    {
        Volatile.Write(ref _any, 1);
        Terminal.Error("The output stands still: messages that had come were not written.");
    }

    /// <summary>Until it is disposed, a line says from time to time how many messages were dropped since the last one.</summary>
    public IDisposable ReportFromTimeToTime() => new Timer(_ => Report(), null, Interval, Interval);

    public void ReportAtEnd()
    {
        if (Dropped is > 0 and var dropped)
        {
            Terminal.Error(
                $"{Counted.Of(dropped, "message")} {(dropped == 1 ? "was" : "were")} dropped in all: the output was read too slowly. "
                + "With --wait, senders wait instead.");
        }
    }

    // One at a time: standard error may stand still too.
    private void Report()
    {
        if (Interlocked.Exchange(ref _isReporting, 1) != 0)
        {
            return;
        }

        try
        {
            long dropped = Dropped;
            if (Interlocked.Exchange(ref _reported, dropped) != dropped)
            {
                Terminal.Note($"{Counted.Of(dropped, "message")} dropped so far: the output is read too slowly.");
            }
        }
        finally
        {
            Volatile.Write(ref _isReporting, 0);
        }
    }

    private string Named(NodeId sender) =>
        SafeText.Of(node.NameOf(sender)) is var name && name != sender.ToString() ? $"{name} ({sender})" : name;
}
