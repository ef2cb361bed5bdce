using System.Net;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Campaigns.Outsider;

// What an outsider has recorded, of each kind of packet the latest few. It hears all that the switch sees, which is more than a host would.
internal sealed class Recordings(QsmNetwork network)
{
    private const int KeptOfKind = 64;
    private const int Takes = 10;
    private const int DataKind = 1;
    private const int SmallestPacket = 64;
    private static readonly TimeSpan TakeEvery = TimeSpan.FromMilliseconds(30);
    private readonly Dictionary<(bool IsOwn, byte Kind), Queue<UdpSample>> _samples = [];

    /// <summary>Of the cluster that is attacked.</summary>
    public UdpSample[] Theirs => Of(isOwn: false);

    /// <summary>Of the outsider's own cluster.</summary>
    public UdpSample[] Own => Of(isOwn: true);

    public IPEndPoint[] Destinations => [.. Theirs.Select(sample => sample.Destination).Distinct()];

    /// <summary>The address to which data are sent.</summary>
    public IPEndPoint Group => Theirs.Where(sample => sample.IsMulticast && sample.Payload[1] == DataKind)
        .GroupBy(sample => sample.Destination).MaxBy(group => group.Count())!.Key;

    public void Take()
    {
        for (int i = 0; i < Takes; i++)
        {
            var census = network.Switch.Census = new UdpCensus();
            Thread.Sleep(TakeEvery);
            network.Switch.Census = null;
            foreach (var sample in census.LatestDatagrams().Where(sample => sample.Payload.Length >= SmallestPacket))
            {
                Keep((sample.Source.Address.Equals(network.Outsider), sample.Payload[1]), sample);
            }
        }
    }

    private void Keep((bool IsOwn, byte Kind) key, UdpSample sample)
    {
        if (!_samples.TryGetValue(key, out var kept))
        {
            _samples[key] = kept = [];
        }

        kept.Enqueue(sample);
        if (kept.Count > KeptOfKind)
        {
            kept.Dequeue();
        }
    }

    private UdpSample[] Of(bool isOwn) => [.. _samples.Where(one => one.Key.IsOwn == isOwn).SelectMany(one => one.Value)];
}

// Where an outsider is.
internal sealed record QsmNetwork(NetworkNamespaces Namespaces, ImpairedSwitch Switch, int Node)
{
    public IPAddress Outsider => Namespaces.Address(Node);
}
