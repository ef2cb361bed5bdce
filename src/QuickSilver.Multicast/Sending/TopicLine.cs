using QuickSilver.Core.Flow;

namespace QuickSilver.Multicast.Sending;

// The topics that wait for their turn at one stream.
//
// Intuition: all have turns of the same number of bytes, so all have the same share. What goes wrong: a turn that fills the run is cut
// short. If a run has room for 13 turns and 91 topics wait, it is the same seven in each round. Application: the topic whose turn was cut
// short continues with the rest of it in the next run.
internal sealed class TopicLine
{
    // What a topic may give in its turn while others wait.
    private const int TurnBytes = 4 << 10;

    private readonly FeedLine _line = new();
    private ITopicFeed? _inTurn;
    // What is left of the turn that was cut short; 0 if none was.
    private int _left;

    public int Count => _line.Count;

    public IReadOnlyCollection<IFeed> Feeds => _line.Feeds;

    /// <summary>The topic has a message, and waits for its turn or, from within its turn, for the rest of it.</summary>
    public void Add(ITopicFeed topic)
    {
        if (ReferenceEquals(topic, _inTurn))
        {
            _line.AddFirst(topic);
        }
        else
        {
            _line.Add(topic);
        }
    }

    /// <summary>Gives the first topic its turn.</summary>
    public void GiveTurn()
    {
        bool isAlone = _line.Count == 1;
        var budget = new PullBudget(int.MaxValue, isAlone ? int.MaxValue : _left > 0 ? _left : TurnBytes);
        _inTurn = (ITopicFeed)_line.First;
        try
        {
            _line.GiveTurn(ref budget);
        }
        finally
        {
            _left = !isAlone && _line.Count > 0 && ReferenceEquals(_line.First, _inTurn) ? budget.Bytes : 0;
            _inTurn = null;
        }
    }

    /// <summary>The stream takes nothing more, and the topics look for another.</summary>
    public void Release()
    {
        while (_line.Count > 0)
        {
            ((ITopicFeed)_line.TakeFirst()).OnStreamClosed();
        }
    }
}
