using System.Globalization;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Environment;
using QuickSilver.Diagnostics;
using QuickSilver.Multicast;
using QuickSilver.Multicast.Stalls;
using QuickSilver.Topics;

namespace QuickSilver.Nodes;

// Topics that wait to be open for longer than the stall limit are named: a service that is reached and does not answer yet, as it gathers
// those who were another's, looks from above as if nothing happened.
internal sealed class OpeningWaits
{
    // Named one by one; of more than so many, those that were named say enough.
    private const int Most = 64;

    private readonly List<TopicCore> _topics;
    private readonly ILogger _log;
    private readonly StallWatch _watch;
    private readonly Troubles _troubles = new();
    private long _stalls;

    public OpeningWaits(INodeEnvironment environment, TimeSpan limit, List<TopicCore> topics, ILogger log)
    {
        _topics = topics;
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

    private bool IsNotable => StallWatch.IsNotable(_stalls);

    private void Collect(List<Wait> waits)
    {
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
        var topic = ((TopicOpening)of).Topic;
        string what = topic.IsAsking ? "to answer" : "to say that it is in view";
        string why = string.Create(
            CultureInfo.InvariantCulture,
            $"The topic \"{topic.Name}\", which is to be opened, waits for the membership service {what}, for {time.TotalSeconds:0.0} s");
        Volatile.Write(ref _stalls, _stalls + 1);
        _troubles.Begin(of, why + ".");
        if (IsNotable)
        {
            FaceLog.OpeningStalled(_log, why);
        }
    }

    private void OnEnded(object of, TimeSpan time)
    {
        _troubles.End(of);
        if (IsNotable)
        {
            FaceLog.OpeningGoesOn(_log, ((TopicOpening)of).Topic.Name, time);
        }
    }
}
