using System.Globalization;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Diagnostics;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Multicast.Stalls;
using QuickSilver.Publishing.Lane;
using QuickSilver.Topics;
using QuickSilver.Topics.Subscribers;

namespace QuickSilver.Nodes;

// Reports waits above the multicast layer that exceed the stall limit. One kind is a topic that is being opened: a service that is
// reachable but does not answer yet, because it collects the nodes of another service, looks idle to the application. So does an earlier
// subscription of this node that has not ended. Another kind is the publish lane: a codec that does not return from Write delays all
// messages that were published after its own. The third kind is a call that waits for subscribers. Protocols
// add theirs.
internal sealed class TopicWaits
{
    // The maximum number of waits that are reported one by one; more would add nothing.
    private const int Most = 64;

    private readonly INodeEnvironment _environment;
    private readonly List<TopicCore> _topics;
    private readonly PublishLane _lane;
    private readonly ILogger _log;
    private readonly StallWatch _watch;
    private readonly Troubles _troubles = new();
    private readonly List<IProtocolWait> _ofProtocols = [];
    private long _stalls;

    public TopicWaits(INodeEnvironment environment, TimeSpan limit, List<TopicCore> topics, PublishLane lane, ILogger log)
    {
        _environment = environment;
        _topics = topics;
        _lane = lane;
        _log = log;
        _watch = new StallWatch(environment, limit, Collect, OnBegan, OnEnded);
    }

    /// <summary>The protocols of the node.</summary>
    public required NodeProtocols Protocols { get; init; }

    /// <summary>The oldest waits. From any thread.</summary>
    public IReadOnlyList<Trouble> Troubles => _troubles.Oldest;

    /// <summary>The number of stalls so far. From any thread.</summary>
    public long Stalls => Volatile.Read(ref _stalls);

    /// <summary>Called when there may be a new wait.</summary>
    public void Look() => _watch.Look();

    public void Close() => _watch.Close();

    private bool IsNotable => RepeatedEvent.IsLogged(_stalls);

    private void Collect(List<Wait> waits)
    {
        if (_lane.IsHeldUp)
        {
            waits.Add(new Wait(_lane, _lane.Next));
        }

        Protocols.AddWaits(_ofProtocols);
        foreach (var wait in _ofProtocols)
        {
            if (waits.Count < Most)
            {
                waits.Add(new Wait(wait, wait.Progress));
            }
        }

        _ofProtocols.Clear();

        foreach (var topic in _topics)
        {
            if (!TryAdd(topic.Openings, waits) || !TryAdd(topic.Postponed, waits))
            {
                return;
            }

            foreach (var wait in topic.SubscriberWaits)
            {
                if (waits.Count < Most && !wait.Done.Task.IsCompleted)
                {
                    waits.Add(new Wait(wait, wait.Most));
                }
            }
        }
    }

    private static bool TryAdd(IReadOnlyList<TopicOpening> openings, List<Wait> waits)
    {
        foreach (var opening in openings)
        {
            if (waits.Count == Most)
            {
                return false;
            }

            waits.Add(new Wait(opening, 0));
        }

        return true;
    }

    private void OnBegan(object of, TimeSpan time)
    {
        string why = string.Create(CultureInfo.InvariantCulture, $"{Describe(of)}. Waiting for {time.TotalSeconds:0.0} s");
        Volatile.Write(ref _stalls, _stalls + 1);
        var (kind, waitsFor) = of switch
        {
            TopicOpening opening when IsPostponed(opening) =>
                (TroubleKind.TopicOpening, "the membership service and the members of the earlier view"),
            TopicOpening => (TroubleKind.TopicOpening, "the membership service"),
            SubscriberWait wait => (TroubleKind.SubscribersMissing, $"subscribers of topic \"{wait.Endpoint.Name}\""),
            IProtocolWait wait => (TroubleKind.ProtocolWaits, wait.WaitsFor),
            _ => (TroubleKind.CodecBlocks, "the codec to return from Write"),
        };
        _troubles.Begin(of, new Trouble(kind, why + ".", _environment.UtcNow - time, waitsFor));
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
            string what = of switch
            {
                TopicOpening opening => $"Topic \"{opening.Topic.Name}\"",
                SubscriberWait wait => $"The publisher of topic \"{wait.Endpoint.Name}\"",
                IProtocolWait wait => $"What had waited ({wait.What})",
                _ => "The publish lane",
            };
            ApiLog.TopicGoesOn(_log, what, time.TotalSeconds);
        }
    }

    private static bool IsPostponed(TopicOpening opening) => opening.Topic.Postponed.Contains(opening);

    private static string Describe(object of) => of switch
    {
        TopicOpening opening when IsPostponed(opening) =>
            $"Opening topic \"{opening.Topic.Name}\": waiting for the end of this node's earlier subscription, "
                + "which gets what was sent in its views",
        TopicOpening { Topic: var topic } => $"Opening topic \"{topic.Name}\": waiting for the membership service"
            + (topic.IsAsking ? " to answer" : " to issue a view with this node"),
        SubscriberWait wait => string.Create(
            CultureInfo.InvariantCulture,
            $"The publisher of topic \"{wait.Endpoint.Name}\" waits until {Counted.Of(wait.Count, "node")} "
                + $"{(wait.Count == 1 ? "subscribes" : "subscribe")}, of which there are {wait.Subscribers} (WaitForSubscribersAsync)"),
        IProtocolWait wait => wait.What,
        _ => "All publishers wait for one message whose codec has not returned from Write",
    };
}
