using System.Globalization;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Diagnostics;
using QuickSilver.Multicast;
using QuickSilver.Multicast.Stalls;
using QuickSilver.Publishing;
using QuickSilver.Topics;

namespace QuickSilver.Nodes;

// What waits above the multicast for longer than the stall limit is named: topics that are to be opened, as a service that is reached and
// does not answer yet, since it gathers those who were another's, looks from above as if nothing happened; and the publish lane, where
// a codec that does not return from Write holds up all messages that were published after its own.
internal sealed class TopicWaits
{
    // Named one by one; of more than so many, those that were named say enough.
    private const int Most = 64;

    private readonly List<TopicCore> _topics;
    private readonly PublishLane _lane;
    private readonly ILogger _log;
    private readonly StallWatch _watch;
    private readonly Troubles _troubles = new();
    private long _stalls;

    public TopicWaits(INodeEnvironment environment, TimeSpan limit, List<TopicCore> topics, PublishLane lane, ILogger log)
    {
        _topics = topics;
        _lane = lane;
        _log = log;
        _watch = new StallWatch(environment, limit, Collect, OnBegan, OnEnded);
    }

    /// <summary>What waits longest, in a sentence; null when nothing does. From any thread.</summary>
    public string? Trouble => _troubles.First;

    /// <summary>From any thread.</summary>
    public long Stalls => Volatile.Read(ref _stalls);

    /// <summary>Something waits, perhaps.</summary>
    public void Look() => _watch.Look();

    public void Close() => _watch.Close();

    private bool IsNotable => RepeatedEvent.IsLogged(_stalls);

    private void Collect(List<Wait> waits)
    {
        if (_lane.IsHeldUp)
        {
            waits.Add(new Wait(_lane, _lane.Next));
        }

        foreach (var topic in _topics)
        {
            foreach (var opening in topic.Openings)
            {
                if (waits.Count == Most)
                {
                    return;
                }

                waits.Add(new Wait(opening, 0));
            }
        }
    }

    private void OnBegan(object of, TimeSpan time)
    {
        string why = string.Create(CultureInfo.InvariantCulture, $"{Describe(of)}. Waiting for {time.TotalSeconds:0.0} s");
        Volatile.Write(ref _stalls, _stalls + 1);
        _troubles.Begin(of, why + ".");
        if (IsNotable)
        {
            ApiLog.TopicStalled(_log, why);
        }
    }

    private void OnEnded(object of, TimeSpan time)
    {
        _troubles.End(of);
        if (IsNotable)
        {
            ApiLog.TopicGoesOn(_log, of is TopicOpening opening ? $"Topic \"{opening.Topic.Name}\"" : "The publish lane", time);
        }
    }

    private static string Describe(object of) => of is TopicOpening { Topic: var topic }
        ? $"Opening topic \"{topic.Name}\": waiting for the membership service"
            + (topic.IsAsking ? " to answer" : " to issue a view with this node")
        : "All publishers wait for one message whose codec has not returned from Write";
}
