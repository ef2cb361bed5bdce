using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;

namespace QuickSilver.Multicast.Ordering.BestEffort;

// Sends the marks of this node's best-effort topics (TopicMark): where a topic begins in a view, and how many messages it has sent.
//
// A receiver notices a lost message by the number of a later message. It therefore cannot notice the loss of the last messages, and if the
// first message of a run is lost, it does not know where the run begins. Marks fill both gaps, and are sent in the reliable stream.
// Application: the mark of a topic's beginning in a view is sent together with its first message there. The mark of the last number is sent
// when the topic has sent nothing between two checks, and before it is closed or drained. A topic that continues to send needs no mark,
// because its next message shows the losses. After a view change the next mark is sent into the new views, because every member that stays
// subscribed is in them. What goes wrong: the reliable stream has no room; the mark is then sent later.
internal sealed class BestEffortMarks(INodeEnvironment environment)
{
    private static readonly TimeSpan LookInterval = TimeSpan.FromMilliseconds(100);

    // The topics, and the last number that each had sent at the last check.
    private readonly List<(TopicSender Topic, long Sent)> _topics = [];
    private Alarm? _look;

    /// <summary>Called when the topic has sent a message. <paramref name="begins"/>: it is the topic's first message in a view.</summary>
    public void OnSent(TopicSender topic, bool begins)
    {
        try
        {
            Note(topic);
        }
        catch (OutOfMemoryException)
        {
            // The message is sent. Noted with the next one.
            return;
        }

        if (begins)
        {
            TryMark(topic);
        }
    }

    /// <summary>Sends the marks of all topics whose reliable streams have room.</summary>
    public void MarkAll()
    {
        for (int i = 0; i < _topics.Count; i++)
        {
            TryMark(_topics[i].Topic);
        }
    }

    /// <summary>Sends the marks of closed topics before the views change. A mark that finds no room now is not sent later.</summary>
    public void MarkClosed()
    {
        for (int i = 0; i < _topics.Count; i++)
        {
            var topic = _topics[i].Topic;
            if (topic.IsClosed)
            {
                TryMark(topic);
                topic.IsMarkNoted = false;
                _topics.RemoveAt(i--);
            }
        }
    }

    public void Close() => environment.CancelIfMade(_look);

    private void Note(TopicSender topic)
    {
        if (topic.IsMarkNoted)
        {
            return;
        }

        _look ??= new Alarm(OnLook);
        _topics.Add((topic, 0));
        topic.IsMarkNoted = true;
        if (!_look.IsPending)
        {
            environment.Schedule(_look, LookInterval);
        }
    }

    // False, too, if the stream has no memory: the topic is marked at a later look.
    private static bool TryMark(TopicSender topic)
    {
        try
        {
            return topic.TryMark();
        }
        catch (OutOfMemoryException)
        {
            return false;
        }
    }

    private void OnLook()
    {
        int left = 0;
        for (int i = 0; i < _topics.Count; i++)
        {
            var (topic, before) = _topics[i];
            bool isQuiet = topic.IsClosed || topic.Sent == before;
            bool isMarked = topic.IsMarked || ((isQuiet || !topic.HasBegun) && TryMark(topic));
            if (isQuiet && isMarked)
            {
                topic.IsMarkNoted = false;
                continue;
            }

            _topics[left++] = (topic, topic.Sent);
        }

        _topics.RemoveRange(left, _topics.Count - left);
        if (left > 0)
        {
            environment.Schedule(_look!, LookInterval);
        }
    }
}
