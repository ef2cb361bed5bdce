using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Client.Hosting;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Service;

namespace QuickSilver.Membership.Client.Discovery;

// Finds the cluster's membership service on the network, or hosts it. It asks a few times. A node that gets no answer keeps asking until
// its turn comes, and then hosts. The node that joined first has the first turn.
//
// Where nothing authenticates answers (certificates), the first answer may be a lie, each time another one. So a fair sample of all answers
// to a question is tried. A service that failed is not tried again soon, and failures do not restart the wait for the turn. If this results
// in two hosts, they prove to each other which one continues.
//
// What is found may answer by datagrams while no stream reaches it. An attempt to connect to it takes seconds, in which another host may
// begin to answer, or the turn to host may come. So the search continues during an attempt that takes long, and either of these ends the
// attempt.
internal sealed class ServiceDiscovery : IDisposable
{
    /// <summary>The node that looks for a service.</summary>
    internal interface IOwner
    {
        /// <summary>A service to connect to, in place of the one to which a connection is being made, if any.</summary>
        void OnFound(IPEndPoint service);

        /// <summary>Before each question, and each attempt to host. It may end the search.</summary>
        void OnAsk();
    }

    private static readonly TimeSpan RetryHosting = TimeSpan.FromSeconds(1);
    // A connection is usually made in less time. One that takes longer has questions beside it, this far apart: the host may be busy with
    // many nodes at once, which must not ask it all the time.
    private static readonly TimeSpan AttemptAlone = TimeSpan.FromSeconds(1);

    // Where a program that starts gives up a host, members of the cluster may give it up too. They have their turn before it, as the next
    // service continues from what they know. Its turn is well within the time that a node has for its start by default.
    private const int RankOfNewcomer = 3;

    private readonly DiscoveryContext _context;
    private readonly MembershipServiceOptions _hosted;
    private readonly IOwner _owner;
    private readonly Alarm _askAlarm;
    private DiscoveryAsker? _asker;
    private TimeSpan _hostAt;
    private int _rank;
    private long _known;
    // To what a connection is being made, and since when; null while there is none.
    private (IPEndPoint Service, TimeSpan Since)? _attempt;
    private EmbeddedHost? _host;
    // An answer that named a service which did not take the node in a moment ago: used if no other comes until the next question. So an
    // answer that was forged, where nothing authenticates answers, delays a node by a connection and not forever.
    private IPEndPoint? _lastResort;
    // Services that did not take the node in.
    private readonly RecentFailures _failed;
    // What has answered, where answers prove nothing; null until something has.
    private HostCandidates? _candidates;
    private bool _hasJustFailed;
    // Since when no service is heard, while what is found does not take the node in; null while a service has it.
    private TimeSpan? _failingSince;
    private string? _lastFailure;
    private bool _hasGivenUp;
    // Services that ended and whose last words are on their way; null until there is one.
    private List<EmbeddedHost>? _ended;

    public ServiceDiscovery(DiscoveryContext context, MembershipServiceOptions hosted, IOwner owner)
    {
        _context = context;
        _hosted = hosted;
        _owner = owner;
        _failed = new RecentFailures(context.Environment);
        _askAlarm = new Alarm(Ask);
    }

    /// <summary>The service hosted here, while there is one.</summary>
    public MembershipService? Hosted => _host?.Service;

    public IPEndPoint? HostedAt => _host?.EndPoint;

    /// <summary>Why others may not find the service hosted here; null: as far as is known they do. From any thread.</summary>
    public Trouble? Trouble => Volatile.Read(ref _host)?.Trouble;

    /// <summary>
    /// Begins to look, until a stream to what was found is connected (<see cref="OnConnected"/>) or fails (<see cref="OnFailed"/>).
    /// <paramref name="rank"/>: how many nodes have stood longer; <paramref name="known"/>: the node's last configuration, which a service
    /// that it comes to host continues from.
    /// </summary>
    public void Find(int rank, long known)
    {
        (_rank, _known) = (rank, known);
        if (_host is not null)
        {
            _owner.OnFound(_host.EndPoint);
            return;
        }

        if (!_hasJustFailed || !(_context.NeedsProof || _hasGivenUp))
        {
            _candidates?.Clear();
            BeginTurn();
        }

        _hasJustFailed = false;
        _asker ??= new DiscoveryAsker(_context, OnAnswer);
        Ask();
    }

    private void BeginTurn()
    {
        var options = _context.Options;
        int rank = _hasGivenUp && _known == 0 ? RankOfNewcomer : _rank;
        var turn = options.RankDelay * Math.Min(rank, options.MaxRank);
        var now = _context.Environment.Now;
        // Only the first time: nodes that lost a service must not all host the next one.
        _hostAt = !options.Hosts ? TimeSpan.MaxValue
            : options.HostsAtOnce && _known == 0 ? now
            : now + options.Patience + turn + _context.Jitter(options.AskInterval);
    }

    public void StopFinding()
    {
        _context.Environment.Cancel(_askAlarm);
        _attempt = null;
        _lastResort = null;
        _asker?.Dispose();
        _asker = null;
    }

    /// <summary>A stream to what was found is connected.</summary>
    public void OnConnected() => StopFinding();

    /// <summary>A service that was found did not take the node in.</summary>
    public void OnFailed(IPEndPoint service, string reason)
    {
        _hasJustFailed = true;
        _failingSince ??= _attempt?.Since ?? _context.Environment.Now;
        _lastFailure = reason;
        StopFinding();
        _failed.Add(service);
    }

    /// <summary>This node stood still for so long: in that time nothing has failed.</summary>
    public void OnPause(TimeSpan length)
    {
        var now = _context.Environment.Now;
        _failingSince = _failingSince is { } since ? Pause.LeaveOut(length, since, now) : null;
        _attempt = _attempt is { } attempt ? attempt with { Since = Pause.LeaveOut(length, attempt.Since, now) } : null;
    }

    /// <summary>The service that had the node is lost; it was heard last at that time.</summary>
    public void OnLost(TimeSpan heard) => _failingSince ??= heard;

    /// <summary>A service has taken the node in.</summary>
    public void OnWelcome()
    {
        _failingSince = null;
        _lastFailure = null;
        _hasGivenUp = false;
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
        if (_attempt is { } attempt && (service.Equals(attempt.Service) || _context.Environment.Now - attempt.Since < AttemptAlone))
        {
            return;
        }

        if (_failed.Has(service))
        {
            GiveUpIfDue(service);
            _lastResort = _hasGivenUp || _attempt is not null ? null : service;
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
    private void GiveUpIfDue(IPEndPoint service)
    {
        if (!_hasGivenUp && TimeUntilGivenUp <= TimeSpan.Zero)
        {
            _hasGivenUp = true;
            BeginTurn();
            _context.Logger.ServiceGivenUp(service, _hosted.Failures.AlmostSilence, _lastFailure ?? "no connection was made");
        }
    }

    private TimeSpan TimeUntilGivenUp =>
        (_failingSince ?? _attempt?.Since) is { } since
            ? since + _hosted.Failures.AlmostSilence - _context.Environment.Now
            : TimeSpan.MaxValue;

    private void Ask()
    {
        _owner.OnAsk();
        if (_asker is null)
        {
            return;
        }

        if (_attempt is { } attempt)
        {
            GiveUpIfDue(attempt.Service);
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

        if (_context.Environment.Now >= _hostAt && (_attempt is null || _hasGivenUp))
        {
            Host();
            return;
        }

        _asker!.Ask(default);
        bool isBeside = _attempt is not null && !_hasGivenUp;
        var interval = isBeside ? AttemptAlone : _context.Options.AskInterval;
        var left = isBeside ? TimeUntilGivenUp : _hostAt - _context.Environment.Now;
        _context.Environment.Schedule(_askAlarm, left < interval ? left : interval);
    }

    private void Host()
    {
        FailAttempt();
        try
        {
            _host = new EmbeddedHost(_context, _hosted, _known, _failed, OnYielded);
        }
        catch (TransportException refused)
        {
            _context.ReportFailure(refused.Message);
            _hostAt = _context.Environment.Now + RetryHosting;
            Ask();
            return;
        }

        StopFinding();
        _owner.OnFound(_host.EndPoint);
    }

    private void Found(IPEndPoint service)
    {
        var environment = _context.Environment;
        FailAttempt();
        _lastResort = null;
        _attempt = (service, environment.Now);
        environment.Schedule(_askAlarm, AttemptAlone);
        _owner.OnFound(service);
    }

    // Another service takes the place of the one to which a connection is being made.
    private void FailAttempt()
    {
        if (_attempt is { } attempt)
        {
            _failingSince ??= attempt.Since;
            _failed.Add(attempt.Service);
        }
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
