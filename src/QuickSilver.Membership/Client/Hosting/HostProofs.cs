using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Flow;
using QuickSilver.Membership.Client.Discovery;
using QuickSilver.Membership.Client.Watching;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;

namespace QuickSilver.Membership.Client.Hosting;

// Asks the hosts that datagrams name for their standing, over a stream. This node does not yield to a host that no stream reaches, because
// its clients could not connect there. Where streams are authenticated and datagrams are not, both sides prove their identities. A forged
// datagram proves nothing, and costs a connection.
//
// What goes wrong: a liar names one address after another, so that this host connects to all of them, or names some that take connections
// and say nothing, so that no place is left. So proofs begin at a limited rate, whatever comes; which of the named is asked next is chance;
// what failed is not asked again soon; and when all places are taken, the proof that has taken longest gives way. By the rate, each has had
// two seconds by then.
internal sealed class HostProofs : IDisposable
{
    /// <summary>A network has few hosts, and seldom more than one. So many proofs may be under way, and begin at once.</summary>
    public const int Most = 8;
    public const double PerSecond = 4;

    private readonly DiscoveryContext _context;
    private readonly string _cluster;
    private readonly Action<IPEndPoint, HostStanding> _onProved;
    private readonly Action<IPEndPoint, string> _onFailed;
    private readonly HostCandidates _waiting;
    private readonly RecentFailures _failed;
    private readonly RateLimit _rate;
    private readonly Alarm _nextAlarm;
    // In the order in which they began.
    private readonly List<Proof> _open = [];
    private long _failures;

    public HostProofs(
        DiscoveryContext context,
        string cluster,
        RecentFailures failed,
        Action<IPEndPoint, HostStanding> onProved,
        Action<IPEndPoint, string> onFailed)
    {
        var environment = context.Environment;
        _context = context;
        _cluster = cluster;
        _onProved = onProved;
        _onFailed = onFailed;
        _waiting = new HostCandidates(environment);
        _failed = failed;
        _rate = new RateLimit(environment.Now, PerSecond, Most);
        _nextAlarm = new Alarm(BeginNext);
    }

    /// <summary>Asks this host, now or in its turn, unless it is being asked or has just failed; there may be too many to ask it.</summary>
    public void Ask(IPEndPoint host)
    {
        if (!HasFailed(host) && !_open.Exists(proof => proof.Host.Equals(host)))
        {
            _waiting.Add(host);
            if (!_nextAlarm.IsPending)
            {
                BeginNext();
            }
        }
    }

    /// <summary>Whether it was asked a moment ago and did not answer.</summary>
    public bool HasFailed(IPEndPoint host) => _failed.Has(host);

    public void Dispose()
    {
        _context.Environment.Cancel(_nextAlarm);
        _waiting.Clear();
        _open.ForEach(static proof => proof.Dispose());
        _open.Clear();
    }

    private void BeginNext()
    {
        var environment = _context.Environment;
        if (_rate.TryTake(environment.Now, 1))
        {
            if (_open.Count == Most)
            {
                _open[0].Dispose();
                _open.RemoveAt(0);
            }

            var proof = new Proof(this, _waiting.Take());
            _open.Add(proof);
            proof.Begin();
        }

        if (_waiting.Count > 0)
        {
            environment.Schedule(_nextAlarm, _rate.TimeUntil(environment.Now, 1));
        }
    }

    private void OnFailed(IPEndPoint host, string reason)
    {
        _failed.Add(host);
        if (RepeatedEvent.IsLogged(++_failures))
        {
            _context.Logger.HostNotProved(host, reason, _failures);
        }

        _onFailed(host, reason);
    }

    private void End(Proof proof, HostStanding? standing)
    {
        if (_open.Remove(proof))
        {
            proof.Dispose();
            if (standing is { } proved)
            {
                _onProved(proof.Host, proved);
            }
        }
    }

    private sealed class Proof : IClusterSnapshotReader, IDisposable
    {
        private readonly HostProofs _proofs;
        private readonly ClusterObserver _observer;

        public Proof(HostProofs proofs, IPEndPoint host)
        {
            var context = proofs._context;
            _proofs = proofs;
            Host = host;
            _observer = new ClusterObserver(context.Environment, [host], proofs._cluster, context.Options, this, context.Logger);
        }

        public IPEndPoint Host { get; }

        public void Begin() => _observer.AskService();

        // It may have sent the observer on to another, which speaks for itself.
        public void OnAnswer(ClusterSnapshot signs) =>
            _proofs.End(this, Host.Equals(_observer.Service) ? signs.Service.Host : null);

        public void OnTopics(ClusterTopics topics)
        {
        }

        public void OnEnded(string reason, bool isRefusal)
        {
            _proofs.OnFailed(Host, reason);
            _proofs.End(this, standing: null);
        }

        public void Dispose() => _observer.Dispose();
    }
}
