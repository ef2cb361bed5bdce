using Microsoft.Extensions.Logging;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;
using QuickSilver.Publishing;
using QuickSilver.Topics;

namespace QuickSilver.Nodes;

// While the node is without the membership service and may have been removed: holds the publishers whose topics do not accept messages
// then, each after its limit, and lets them continue when the service is back. Core thread only.
internal sealed class ServiceLossWatch
{
    private readonly INodeEnvironment _environment;
    private readonly IReadOnlyList<TopicCore> _topics;
    private readonly bool _isServiceHosted;
    private readonly Func<NodeStatus> _status;
    private readonly ILogger _log;
    private readonly Alarm _alarm;
    // Null until the application wants to be notified.
    private StatusNotices? _notices;
    private ServiceLoss? _loss;
    private TimeSpan _lastHeard;

    /// <param name="environment">The node's.</param>
    /// <param name="topics">The open topics.</param>
    /// <param name="isServiceHosted">Whether a node hosts the service, so that each part of a divided network has one.</param>
    /// <param name="status">Reads the node's status.</param>
    /// <param name="log">The node's.</param>
    public ServiceLossWatch(
        INodeEnvironment environment, IReadOnlyList<TopicCore> topics, bool isServiceHosted, Func<NodeStatus> status, ILogger log)
    {
        _status = status;
        _environment = environment;
        _topics = topics;
        _isServiceHosted = isServiceHosted;
        _log = log;
        _alarm = new Alarm(OnLimit);
    }

    /// <summary>The notices to the application, from any thread.</summary>
    public StatusNotices Notices => LazyInitializer.EnsureInitialized(
        ref _notices, () => new StatusNotices(_environment, _status, _log));

    /// <summary>The service was last heard so long ago.</summary>
    public void OnSilent(TimeSpan since)
    {
        _lastHeard = _environment.Now - since;
        _loss = new ServiceLoss(_environment.UtcNow - since);
        ApiLog.Degraded(_log, since.TotalSeconds, Hold());
        EndChange(NodeStatusChangeKind.Degraded);
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

        EndChange(NodeStatusChangeKind.Recovered);
    }

    /// <summary>What may change the node's status follows.</summary>
    public void BeginChange() => Volatile.Read(ref _notices)?.BeginChange();

    /// <summary>The node's status has changed.</summary>
    public void EndChange(NodeStatusChangeKind kind) => Volatile.Read(ref _notices)?.EndChange(kind);

    public void Close() => _environment.Cancel(_alarm);

    private static bool RequiresService(TopicEndpoint endpoint) => endpoint.ServiceLossLimit < TimeSpan.MaxValue;

    private void OnLimit() => ApiLog.ServiceLossLimitReached(_log, (_environment.Now - _lastHeard).TotalSeconds, Hold());

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
