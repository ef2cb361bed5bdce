using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Client.Hosting;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Service;

namespace QuickSilver.Membership.Client;

// Finds the cluster's membership service on the network, or hosts it. It asks a few times; who hears no answer waits for
// its turn (the longest-standing node has the first), asking on, and then hosts.
//
// Where nothing authenticates answers (certificates), whoever answers first may lie, and lie anew each time. So of all that answer a
// question a fair sample is tried, what failed is not tried again soon, and failures do not begin the wait for the turn again. Two hosts
// that come of that prove to each other who goes on.
internal sealed class ServiceDiscovery : IDisposable
{
    /// <summary>For whom a service is looked for.</summary>
    internal interface IOwner
    {
        /// <summary>The end of a search.</summary>
        void OnFound(IPEndPoint service);

        /// <summary>Before each question, and each attempt to host. It may end the search.</summary>
        void OnAsk();
    }

    private static readonly TimeSpan RetryHosting = TimeSpan.FromSeconds(1);

    private readonly DiscoveryContext _context;
    private readonly MembershipServiceOptions _hosted;
    private readonly IOwner _owner;
    private readonly Alarm _askAlarm;
    private DiscoveryAsker? _asker;
    private TimeSpan _hostAt;
    private long _known;
    private EmbeddedHost? _host;
    // An answer that named a service which did not take the node in a moment ago: used if no other comes until the next question. So an
    // answer that was forged, where nothing authenticates answers, delays a node by a connection and not for ever.
    private IPEndPoint? _lastResort;
    // Services that did not take the node in; null until there is one.
    private RecentFailures? _failed;
    // What has answered, where answers prove nothing; null until something has.
    private HostCandidates? _candidates;
    private bool _hasJustFailed;
    // Since when no service is heard, while what is found does not take the node in; null while a service has it.
    private TimeSpan? _failingSince;
    private string? _lastFailure;
    private bool _isGivenUpTold;
    // Services that ended and whose last words are on their way; null until there is one.
    private List<EmbeddedHost>? _ended;

    public ServiceDiscovery(DiscoveryContext context, MembershipServiceOptions hosted, IOwner owner)
    {
        _context = context;
        _hosted = hosted;
        _owner = owner;
        _askAlarm = new Alarm(Ask);
    }

    /// <summary>The service hosted here, while there is one.</summary>
    public MembershipService? Hosted => _host?.Service;

    public IPEndPoint? HostedAt => _host?.EndPoint;

    /// <summary>Why others may not find the service hosted here; null: as far as is known they do. From any thread.</summary>
    public Trouble? Trouble => Volatile.Read(ref _host)?.Trouble;

    /// <summary>
    /// Begins to look; ends with one call of the owner's OnFound. <paramref name="rank"/>: how many nodes have stood longer;
    /// <paramref name="known"/>: the node's last configuration, which a service that it comes to host continues from.
    /// </summary>
    public void Find(int rank, long known)
    {
        _known = known;
        if (_host is not null)
        {
            _owner.OnFound(_host.EndPoint);
            return;
        }

        if (!_hasJustFailed || !_context.NeedsProof)
        {
            BeginToLook(rank, known);
        }

        _hasJustFailed = false;
        _asker ??= new DiscoveryAsker(_context, OnAnswer);
        Ask();
    }

    private void BeginToLook(int rank, long known)
    {
        _candidates?.Clear();
        var options = _context.Options;
        var turn = options.RankDelay * Math.Min(rank, options.MaxRank);
        var now = _context.Environment.Now;
        // Only the first time: nodes that lost a service must not all host the next one.
        _hostAt = !options.Hosts ? TimeSpan.MaxValue
            : options.HostsAtOnce && known == 0 ? now
            : now + options.Patience + turn + _context.Jitter(options.AskInterval);
    }

    public void StopFinding()
    {
        _context.Environment.Cancel(_askAlarm);
        _asker?.Dispose();
        _asker = null;
    }

    /// <summary>A service that was found did not take the node in.</summary>
    public void OnFailed(IPEndPoint service, string reason)
    {
        _hasJustFailed = true;
        _failingSince ??= _context.Environment.Now;
        _lastFailure = reason;
        (_failed ??= new RecentFailures(_context.Environment)).Add(service);
    }

    /// <summary>The service that had the node is lost; it was heard last at that time.</summary>
    public void OnLost(TimeSpan heard) => _failingSince ??= heard;

    /// <summary>A service has taken the node in.</summary>
    public void OnWelcome()
    {
        _failingSince = null;
        _lastFailure = null;
        _isGivenUpTold = false;
    }

    /// <summary>Ends the service hosted here, if there is one; its clients look for another.</summary>
    public void EndHosting()
    {
        if (_host is { } host)
        {
            KeepEnded(host);
            host.End(successor: null);
        }
    }

    public void Dispose()
    {
        StopFinding();
        _host?.Dispose();
        _host = null;
        _ended?.ForEach(static host => host.Dispose());
        _ended = null;
    }

    private void OnAnswer(DiscoveryDatagram answer)
    {
        var service = answer.EndPoint;
        if (_failed?.Has(service) == true)
        {
            if (!IsGivenUp(service))
            {
                _lastResort = service;
            }
        }
        else if (!_context.NeedsProof)
        {
            Found(service);
        }
        else
        {
            (_candidates ??= new HostCandidates(_context.Environment)).Add(service);
        }
    }

    // What answers by datagrams and takes no node in by streams, as behind a firewall, or at an address that is gone, must not keep those
    // that wait from a service for as long as it answers. After the time for which a service waits for a node, they wait no longer, and one
    // of them hosts.
    private bool IsGivenUp(IPEndPoint service)
    {
        var limit = _hosted.Failures.AlmostSilence;
        if (_failingSince is not { } since || _context.Environment.Now - since < limit)
        {
            return false;
        }

        if (!_isGivenUpTold)
        {
            _isGivenUpTold = true;
            _context.Logger.ServiceGivenUp(service, limit, _lastFailure);
        }

        return true;
    }

    private void Ask()
    {
        _owner.OnAsk();
        if (_asker is null)
        {
            return;
        }

        if (_candidates is { Count: > 0 } candidates)
        {
            Found(candidates.Take());
            return;
        }

        if (_lastResort is { } service)
        {
            Found(service);
            return;
        }

        if (_context.Environment.Now >= _hostAt)
        {
            Host();
            return;
        }

        _asker!.Ask(default);
        var left = _hostAt - _context.Environment.Now;
        _context.Environment.Schedule(_askAlarm, left < _context.Options.AskInterval ? left : _context.Options.AskInterval);
    }

    private void Host()
    {
        try
        {
            _host = new EmbeddedHost(_context, _hosted, _known, OnYielded);
        }
        catch (TransportException refused)
        {
            _context.ReportFailure(refused.Message);
            _hostAt = _context.Environment.Now + RetryHosting;
            Ask();
            return;
        }

        Found(_host.EndPoint);
    }

    private void Found(IPEndPoint endPoint)
    {
        StopFinding();
        _lastResort = null;
        _owner.OnFound(endPoint);
    }

    private void OnYielded()
    {
        if (_host is { } host)
        {
            KeepEnded(host);
        }
    }

    private void KeepEnded(EmbeddedHost host)
    {
        _host = null;
        _ended ??= [];
        foreach (var silent in _ended.FindAll(static ended => ended.Service.SessionCount == 0))
        {
            silent.Dispose();
            _ended.Remove(silent);
        }

        _ended.Add(host);
    }
}
