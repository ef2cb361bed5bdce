using System.Collections.Immutable;
using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Reachability;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Service.Sessions;

namespace QuickSilver.Membership.Service.Arbitration;

// Asks nodes over their streams which others their datagrams reach, and passes each answer to the caller. A node that does not answer in
// time is forgotten: no answer is no finding.
internal sealed class Inquiries(
    INodeEnvironment environment, string cluster, ServiceCounters counters, RegionKeys? keys = null)
    : IDisposable
{
    private readonly Dictionary<ulong, (ControlSession Session, Action<Findings> Found)> _asked = [];
    private readonly Queue<(ulong Id, TimeSpan Until)> _order = new();
    // Null until something is asked.
    private Alarm? _forget;
    private ulong _last;

    public EchoPort Echo { get; } = new(environment, cluster, counters, keys);

    /// <summary>Where the service listens for streams; echoes are answered at the same number where possible.</summary>
    public int ServicePort { get; set; }

    public void Ask(ControlSession session, ImmutableArray<IPEndPoint> targets, TimeSpan wait, Action<Findings> found)
    {
        ulong id = ++_last;
        _asked.Add(id, (session, found));
        _order.Enqueue((id, environment.Now + (wait * 4)));
        _forget ??= new Alarm(Forget);
        if (!_forget.IsPending)
        {
            environment.Schedule(_forget, wait * 4);
        }

        session.Send(new InquiryMessage
        {
            Id = id,
            WaitMilliseconds = Math.Max(1, (int)wait.TotalMilliseconds),
            ServicePort = Echo.Open(ServicePort),
            Targets = targets,
            ClusterKey = keys?.Cluster,
        });
    }

    /// <summary>An observer sends echoes: it gets the key, if there is one, and is asked nothing.</summary>
    public void SendKey(ControlSession session)
    {
        if (keys?.Cluster is { } key)
        {
            session.Send(new InquiryMessage { Id = 0, WaitMilliseconds = 1, ServicePort = Echo.Open(ServicePort), ClusterKey = key });
        }
    }

    public void OnFindings(ControlSession session, FindingsMessage message)
    {
        if (_asked.TryGetValue(message.Inquiry, out var asked) && asked.Session == session)
        {
            _asked.Remove(message.Inquiry);
            asked.Found(message.Found);
        }
    }

    public void Dispose()
    {
        environment.CancelIfMade(_forget);
        _asked.Clear();
        _order.Clear();
        Echo.Dispose();
    }

    // Waits differ, so one may be forgotten a little later than it could be.
    private void Forget()
    {
        var now = environment.Now;
        while (_order.TryPeek(out var oldest) && oldest.Until <= now)
        {
            _asked.Remove(_order.Dequeue().Id);
        }

        if (_order.TryPeek(out var next))
        {
            environment.Schedule(_forget!, next.Until - now);
        }
    }
}
