using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;

namespace QuickSilver.Endpoints.Subscriptions;

// Ends an endpoint whose reader has taken nothing, and has therefore stopped its topic's senders, for as long as its options allow. A
// reader that is slow and takes messages all the time holds the senders to its rate, and does not stop them. Core thread.
internal sealed class SlowReaderWatch
{
    private readonly INodeEnvironment _environment;
    private readonly Alarm _alarm;

    public SlowReaderWatch(EndpointTopic topic, TopicEndpoint endpoint, TimeSpan limit)
    {
        _environment = topic.Node.Environment;
        Limit = limit;
        _alarm = new Alarm(() => topic.OnReaderTooSlow(endpoint));
    }

    public TimeSpan Limit { get; }

    /// <summary>Called when the endpoint has no room for a message.</summary>
    public void OnRefused()
    {
        if (!_alarm.IsPending)
        {
            _environment.Schedule(_alarm, Limit);
        }
    }

    /// <summary>Called when the endpoint has room, was given a message, or has ended.</summary>
    public void OnRoom()
    {
        if (_alarm.IsPending)
        {
            _environment.Cancel(_alarm);
        }
    }
}
