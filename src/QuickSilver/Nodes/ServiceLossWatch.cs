using Microsoft.Extensions.Logging;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;
using QuickSilver.Publishing;
using QuickSilver.Topics;

namespace QuickSilver.Nodes;

// While the node is without the membership service and may have been removed: holds the publishers whose topics do not accept messages
// then, each after its limit, and lets them go on when the service is back. Core thread only.
internal sealed class ServiceLossWatch
{
    private readonly INodeEnvironment _environment;
    private readonly IReadOnlyList<TopicCore> _topics;
    private readonly bool _isServiceHosted;
    private readonly ILogger _log;
    private readonly Alarm _alarm;
    private ServiceLoss? _loss;
    private TimeSpan _lastHeard;

    /// <param name="environment">The node's.</param>
    /// <param name="topics">The open topics.</param>
    /// <param name="isServiceHosted">Whether a node hosts the service, so that each part of a divided network has one.</param>
    /// <param name="log">The node's.</param>
    public ServiceLossWatch(INodeEnvironment environment, IReadOnlyList<TopicCore> topics, bool isServiceHosted, ILogger log)
    {
        Notices = new DegradedNotices(environment, log);
        _environment = environment;
        _topics = topics;
        _isServiceHosted = isServiceHosted;
        _log = log;
        _alarm = new Alarm(() => Hold());
    }

    /// <summary>What the application is told.</summary>
    public DegradedNotices Notices { get; }

    /// <summary>The service was last heard so long ago.</summary>
    public void OnSilent(TimeSpan since, StatusReason reason)
    {
        _lastHeard = _environment.Now - since;
        _loss = new ServiceLoss(_environment.UtcNow - since);
        ApiLog.Degraded(_log, since.TotalSeconds, Hold());
        Notices.Tell(reason);
    }

    /// <summary>An endpoint was opened.</summary>
    public void OnOpened(TopicCore topic, TopicEndpoint endpoint)
    {
        if (_isServiceHosted && RequiresService(endpoint) && topic.Endpoints.Count(RequiresService) == 1)
        {
            string option = endpoint.ServiceLossLimit == TimeSpan.Zero
                ? nameof(TopicOptions.RequireQuorum)
                : nameof(TopicOptions.ServiceLossLimit);
            ApiLog.QuorumWithoutService(_log, topic.Name, option);
        }

        if (_loss is not null)
        {
            Hold();
        }
    }

    /// <summary>The service is back.</summary>
    public void OnBack()
    {
        Close();
        if (_loss is null)
        {
            return;
        }

        _loss = null;
        foreach (var topic in _topics)
        {
            topic.Release();
        }

        Notices.Tell(null);
    }

    private static bool RequiresService(TopicEndpoint endpoint) => endpoint.ServiceLossLimit < TimeSpan.MaxValue;

    public void Close() => _environment.Cancel(_alarm);

    // Returns how many publishers are held.
    private int Hold()
    {
        int held = 0;
        var next = TimeSpan.MaxValue;
        var silent = _environment.Now - _lastHeard;
        foreach (var topic in _topics)
        {
            foreach (var endpoint in topic.Endpoints)
            {
                if (endpoint.ServiceLossLimit <= silent)
                {
                    topic.Hold(endpoint, _loss!);
                    held++;
                }
                else if (endpoint.ServiceLossLimit < next)
                {
                    next = endpoint.ServiceLossLimit;
                }
            }
        }

        if (next < TimeSpan.MaxValue)
        {
            _environment.Schedule(_alarm, next - silent);
        }

        return held;
    }
}
