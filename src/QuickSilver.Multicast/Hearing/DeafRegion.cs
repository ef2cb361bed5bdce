using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Hearing;

// The members of one region that do not hear this node over its group, and the probes by which they detect that they hear it again.
//
// Invariant: the alarm is pending while any member is deaf or a probe is wanted. The interval between probes is one second while data is
// sent into the region, and doubles up to a limit while none is. Data that is sent to the group replaces a probe.
internal sealed class DeafRegion
{
    private static readonly TimeSpan ProbeEvery = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan MostIdleProbe = TimeSpan.FromSeconds(8);
    // The least time between two probes, however many members ask for one.
    private static readonly TimeSpan ProbeSpacing = TimeSpan.FromMilliseconds(100);

    private readonly INodeEnvironment _environment;
    private readonly Action<DeafRegion> _probe;
    private readonly Action<DeafRegion> _remind;
    private readonly Alarm _alarm;
    private DatagramAddress? _address;
    private TimeSpan _interval = ProbeEvery;
    private TimeSpan _probedAt = TimeSpan.MinValue;
    private bool _isProbeWanted;
    private bool _wasUsed;
    private bool _wasGroupUsed;

    public DeafRegion(INodeEnvironment environment, RegionView view, Action<DeafRegion> probe, Action<DeafRegion> remind)
    {
        _environment = environment;
        View = view;
        _probe = probe;
        _remind = remind;
        _alarm = new Alarm(OnDue);
    }

    /// <summary>The newest view into which data was sent.</summary>
    public RegionView View { get; set; }

    /// <summary>
    /// The deaf members, and when each last reported that it is; the least time if it never did, and is only assumed to be.
    /// </summary>
    public SortedDictionary<NodeKey, TimeSpan> Members { get; } = [];

    public DatagramAddress AddressOf(IPEndPoint group) =>
        _address is { } known && known.EndPoint.Equals(group) ? known : _address = new DatagramAddress(group);

    /// <summary>A member asks for a probe. It is sent at once, unless another was sent within the spacing.</summary>
    public void ProbeSoon()
    {
        _isProbeWanted = true;
        WakeIn(Spacing());
    }

    public void NoteSent(bool overGroup)
    {
        _wasUsed = true;
        _wasGroupUsed |= overGroup;
        if (_interval > ProbeEvery && Members.Count > 0)
        {
            _interval = ProbeEvery;
            _environment.Schedule(_alarm, ProbeEvery);
        }
    }

    public void OnAdded() => ProbeSoon();

    public void OnRemoved()
    {
        if (Members.Count == 0 && !_isProbeWanted)
        {
            _environment.Cancel(_alarm);
        }
    }

    public void Close() => _environment.Cancel(_alarm);

    private void OnDue()
    {
        if (_isProbeWanted || !_wasGroupUsed)
        {
            _isProbeWanted = false;
            _probedAt = _environment.Now;
            _probe(this);
        }

        if (Members.Count == 0)
        {
            return;
        }

        _remind(this);
        if (Members.Count == 0)
        {
            return;
        }

        _interval = _wasUsed ? ProbeEvery : _interval * 2 < MostIdleProbe ? _interval * 2 : MostIdleProbe;
        _wasUsed = _wasGroupUsed = false;
        _environment.Schedule(_alarm, _interval);
    }

    private TimeSpan Spacing()
    {
        var left = _probedAt == TimeSpan.MinValue ? TimeSpan.Zero : _probedAt + ProbeSpacing - _environment.Now;
        return left > TimeSpan.Zero ? left : TimeSpan.Zero;
    }

    // This never delays an alarm that is due earlier: no other caller schedules it sooner than the spacing.
    private void WakeIn(TimeSpan delay) => _environment.Schedule(_alarm, delay);
}
