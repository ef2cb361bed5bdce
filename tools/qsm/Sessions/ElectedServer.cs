using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Sessions;
using QuickSilver.Membership.Service.Stores;
using QuickSilver.Tool.Etcd;

namespace QuickSilver.Tool.Sessions;

// What one of several servers is to its clients: while it leads it is the service; otherwise it says who leads. On the core thread,
// but for CanLead.
//
// What goes wrong: between the listener of the one and that of the other, the system may refuse the port, because some program has taken
// it. A server that no node reaches must not lead: its term would be renewed forever, and the others would consider it healthy. So it gives
// the term up, says so, and stands for leader again when it listens.
internal sealed class ElectedServer : IDisposable
{
    public static readonly TimeSpan Retry = TimeSpan.FromSeconds(1);

    private readonly INodeEnvironment _environment;
    private readonly MembershipServiceOptions _options;
    private readonly Refusals _refusals;
    private readonly ILogger _logger;
    private readonly Alarm _listenAgain;
    // At most one of them is there; neither, while the system refuses to listen.
    private Standby? _standby;
    private MembershipService? _service;
    // The last service that was deposed; the nodes may not have read its last word yet.
    private MembershipService? _deposed;
    private long _timesRefused;
    private volatile bool _canLead = true;

    /// <summary>Stands by on <paramref name="listen"/>. Throws <see cref="TransportException"/> when it cannot.</summary>
    public ElectedServer(
        INodeEnvironment environment, MembershipServiceOptions options, Refusals refusals, ILogger logger, IPEndPoint listen)
    {
        _environment = environment;
        _options = options;
        _refusals = refusals;
        _logger = logger;
        _listenAgain = new Alarm(StandBy);
        LocalEndPoint = listen;
        ListenAsStandby();
    }

    public IPEndPoint LocalEndPoint { get; private set; }

    /// <summary>The sessions of nodes that have not read that the service ends.</summary>
    public int LeavingCount => _deposed?.SessionCount ?? 0;

    /// <summary>Whether it is worth standing for leader: not while the system refuses to listen. From any thread.</summary>
    public bool CanLead => _canLead;

    /// <summary>The server that leads; null: none, or it is not known.</summary>
    public IPEndPoint? Leader
    {
        get;
        set
        {
            field = value;
            _standby?.Leader = value;
        }
    }

    /// <summary>It leads, if it can listen.</summary>
    /// <param name="term">Its hold on the store.</param>
    /// <param name="giveUp">Gives the term up, for the reason; <see cref="OnDeposed"/> follows.</param>
    public void Lead(IMembershipStore term, Action<string> giveUp)
    {
        _environment.Cancel(_listenAgain);
        var service = new MembershipService(_environment, _options, term, new ServiceCounters(), _logger);
        _standby?.StopListening();
        try
        {
            service.Start(LocalEndPoint);
            _service = service;
            (_canLead, _timesRefused) = (true, 0);
            // Nodes that wait to learn the leader learn it when they can connect.
            Leader = LocalEndPoint;
        }
        catch (TransportException refused)
        {
            service.Dispose();
            _canLead = false;
            _logger.CannotLead(LocalEndPoint, refused.Message, Retry);
            giveUp($"it cannot listen on {LocalEndPoint}");
            _environment.Schedule(_listenAgain, Retry);
        }

        _standby?.Dispose();
        _standby = null;
    }

    public void OnDeposed()
    {
        _service?.Retire(successor: null);
        (_deposed, _service) = (_service ?? _deposed, null);
        Leader = null;
        if (_standby is null && !_listenAgain.IsPending)
        {
            StandBy();
        }
    }

    public void Dispose()
    {
        _environment.Cancel(_listenAgain);
        _service?.Dispose();
        _standby?.Dispose();
    }

    private void StandBy()
    {
        try
        {
            ListenAsStandby();
            (_canLead, _timesRefused) = (true, 0);
        }
        catch (TransportException refused)
        {
            _canLead = false;
            if (RepeatedEvent.IsLogged(++_timesRefused))
            {
                _logger.CannotStandBy(LocalEndPoint, refused.Message, Retry, _timesRefused);
            }

            _environment.Schedule(_listenAgain, Retry);
        }
    }

    private void ListenAsStandby()
    {
        _standby = new Standby(_environment, _options.Limits, _refusals, LocalEndPoint) { Leader = Leader };
        LocalEndPoint = _standby.LocalEndPoint;
    }
}
