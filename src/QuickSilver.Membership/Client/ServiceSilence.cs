using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;

namespace QuickSilver.Membership.Client;

// Notifies the node when the service has been lost for so long that it may have removed this node. After that, the others may continue
// without it. A lost connection alone does not show that: another server may take over.
internal sealed class ServiceSilence
{
    private readonly INodeEnvironment _environment;
    private readonly IMembershipObserver _observer;
    private readonly Alarm _alarm;
    private TimeSpan _lastHeard;

    public ServiceSilence(INodeEnvironment environment, IMembershipObserver observer)
    {
        _environment = environment;
        _observer = observer;
        _alarm = new Alarm(() => _observer.OnServiceSilent(_environment.Now - _lastHeard));
    }

    /// <summary>The connection was lost to a service that removes nodes of which it hears nothing for <paramref name="limit"/>.</summary>
    public void Begin(TimeSpan lastHeard, TimeSpan limit)
    {
        _lastHeard = lastHeard;
        var left = lastHeard + limit - _environment.Now;
        _environment.Schedule(_alarm, left > TimeSpan.Zero ? left : TimeSpan.Zero);
    }

    /// <summary>The service is back, or this node has ended.</summary>
    public void End() => _environment.Cancel(_alarm);
}
