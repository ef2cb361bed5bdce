using System.Net;
using QuickSilver.Membership.Protocol;

namespace QuickSilver.Membership.Client.Hosting;

// Where nothing authenticates datagrams, but streams do: asks the hosts that datagrams name how they stand, over a stream on which both
// sides prove who they are. What a forged datagram names proves nothing, and costs a connection.
internal sealed class HostProofs(DiscoveryContext context, string cluster, Action<IPEndPoint, HostStanding> onProved) : IDisposable
{
    // A network has few hosts, and seldom more than one.
    private const int Most = 8;

    private readonly DiscoveryContext _context = context;
    private readonly string _cluster = cluster;
    private readonly Dictionary<IPEndPoint, Proof> _open = [];

    /// <summary>Asks this host, unless it is being asked, or too many are.</summary>
    public void Ask(IPEndPoint host)
    {
        if (_open.Count < Most && !_open.ContainsKey(host))
        {
            var proof = new Proof(this, host);
            _open.Add(host, proof);
            proof.Begin();
        }
    }

    public void Dispose()
    {
        foreach (var proof in _open.Values)
        {
            proof.Dispose();
        }

        _open.Clear();
    }

    private void End(IPEndPoint host, HostStanding? standing)
    {
        if (_open.Remove(host, out var proof))
        {
            proof.Dispose();
            if (standing is { } proved)
            {
                onProved(host, proved);
            }
        }
    }

    private sealed class Proof : IClusterSignsReader, IDisposable
    {
        private readonly HostProofs _proofs;
        private readonly IPEndPoint _host;
        private readonly ClusterObserver _observer;

        public Proof(HostProofs proofs, IPEndPoint host)
        {
            var context = proofs._context;
            _proofs = proofs;
            _host = host;
            _observer = new ClusterObserver(context.Environment, [host], proofs._cluster, context.Options, this, context.Logger);
        }

        public void Begin() => _observer.Ask(rows: 1);

        // It may have sent the observer on to another, which speaks for itself.
        public void OnAnswer(ClusterSigns signs) =>
            _proofs.End(_host, _host.Equals(_observer.Service) ? signs.Service.Host : null);

        public void OnTopics(ClusterTopics topics)
        {
        }

        public void OnEnded(string reason, bool isRefusal)
        {
            _proofs._context.ReportFailure(reason);
            _proofs.End(_host, standing: null);
        }

        public void Dispose() => _observer.Dispose();
    }
}
