using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;

namespace QuickSilver.Multicast.Ordering;

// When a node's best-effort topics say how many messages they have sent.
//
// Intuition: nobody misses a message after which nothing comes, and nobody knows where a run begins whose first message was lost. So
// these two things are said in the stream that repairs. Application: where a topic begins in a view is said together with its first
// message there; how far it has come, when it has been quiet from one look to the next, and before the topic is closed or drained. A topic
// that goes on tells of its losses by its next message, and says nothing. After a change of views the next mark goes into
// the new ones: who stays subscribed is there. What goes wrong: the reliable stream has no room; then it is said later.
internal sealed class BestEffortMarks(INodeEnvironment environment)
{
    private static readonly TimeSpan LookInterval = TimeSpan.FromMilliseconds(100);

    // What they had sent at the last look.
    private readonly List<(TopicSender Topic, long Sent)> _topics = [];
    private Alarm? _look;

    /// <summary>The topic has sent, perhaps its first into a view.</summary>
    public void OnSent(TopicSender topic, bool begins)
    {
        Note(topic);
        if (begins)
        {
            topic.TryMark();
        }
    }

    /// <summary>All that was sent is said as soon as there is room.</summary>
    public void MarkAll()
    {
        for (int i = 0; i < _topics.Count; i++)
        {
            _topics[i].Topic.TryMark();
        }
    }

    /// <summary>The topics that are closed say it now or never: their views change.</summary>
    public void MarkClosed()
    {
        for (int i = 0; i < _topics.Count; i++)
        {
            var topic = _topics[i].Topic;
            if (topic.IsClosed)
            {
                topic.TryMark();
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

        topic.IsMarkNoted = true;
        _topics.Add((topic, 0));
        _look ??= new Alarm(OnLook);
        if (!_look.IsPending)
        {
            environment.Schedule(_look, LookInterval);
        }
    }

    private void OnLook()
    {
        int left = 0;
        for (int i = 0; i < _topics.Count; i++)
        {
            var (topic, before) = _topics[i];
            bool isQuiet = topic.IsClosed || topic.Sent == before;
            bool isMarked = topic.IsMarked || ((isQuiet || !topic.HasBegun) && topic.TryMark());
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
