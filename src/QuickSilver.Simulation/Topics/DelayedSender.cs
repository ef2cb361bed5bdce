using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Flow;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Topics;

// A topic's sender that has no room from time to time. To the publishers, this is a reader of the topic without room: the topic waits, and
// the other topics of the node continue after a moment. So each order that results is one that a slow reader on another node causes in
// production, and the messages of this topic keep their own order.
//
// A wait is drawn when a message is to be sent, and never without one: a topic that sends nothing costs nothing. After a wait, or when none
// was drawn, the topic is left alone for a while. A topic that sends all the time therefore loses a part of the time and not of its rate
// per message.
internal sealed class DelayedSender : ITopicSender, ISenderFeed
{
    private const double WaitProbability = 0.5;
    // How long the topic is left alone at most, as a multiple of the longest wait.
    private const int LongestRest = 3;

    private readonly ITopicSender _sender;
    private readonly INodeEnvironment _environment;
    private readonly SeededRandom _random;
    private readonly TimeSpan _longest;
    private readonly Alarm _turn;
    private TimeSpan _restsUntil = TimeSpan.MinValue;
    private bool _isWaiting;

    public DelayedSender(ITopicSender sender, INodeEnvironment environment, SeededRandom random, TimeSpan longest)
    {
        _sender = sender;
        _environment = environment;
        _random = random;
        _longest = longest;
        _turn = new Alarm(OnTurn);
    }

    public string? Name
    {
        get => _sender.Name;
        set => _sender.Name = value;
    }

    public ISenderFeed? Feed
    {
        get;
        set
        {
            field = value;
            _sender.Feed = value is null ? null : this;
        }
    }

    public long MostBytes => _sender.MostBytes;

    public int RoomBytes => _isWaiting ? 0 : _sender.RoomBytes;

    public long Count => _sender.Count;

    public StreamLimit Limit => _isWaiting ? StreamLimit.Reader : _sender.Limit;

    public bool IsStable => _sender.IsStable;

    public long TrySend(ReadOnlySpan<byte> payload, IStabilityObserver? observer, ReadOnlySpan<byte> extensions = default) =>
        IsWaiting() ? -1 : _sender.TrySend(payload, observer, extensions);

    public int Touch() => _sender.Touch();

    public bool AwaitRoom() => !IsWaiting() && _sender.AwaitRoom();

    public void ObserveTaken(IStabilityObserver observer, long number, bool isLast) => _sender.ObserveTaken(observer, number, isLast);

    public void WhenStable(Action callback) => _sender.WhenStable(callback);

    // The feed is asked when the wait is over.
    public bool Pull(ref PullBudget budget) => !_isWaiting && Feed?.Pull(ref budget) == true;

    public void Close()
    {
        _environment.Cancel(_turn);
        _sender.Close();
    }

    private bool IsWaiting()
    {
        if (_isWaiting)
        {
            return true;
        }

        var now = _environment.Now;
        if (now < _restsUntil)
        {
            return false;
        }

        if (!_random.Chance(WaitProbability))
        {
            Rest(now);
            return false;
        }

        _isWaiting = true;
        _environment.Schedule(_turn, _random.UpTo(_longest));
        return true;
    }

    private void Rest(TimeSpan now) => _restsUntil = now + _random.UpTo(_longest * LongestRest);

    private void OnTurn()
    {
        if (_isWaiting)
        {
            _isWaiting = false;
            Rest(_environment.Now);
        }

        var budget = PullBudget.OneTurn;
        if (Pull(ref budget) && !_isWaiting)
        {
            _environment.Schedule(_turn, TimeSpan.Zero);
        }
    }
}
