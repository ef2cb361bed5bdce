using System.Net;
using QuickSilver.Core.Security.Identities;

namespace QuickSilver.Membership.Service.Quotas;

// Where a client comes from: its address, and the certificate that it has shown. Null: it is not known, or there is none. The name of a
// secret is that of all nodes, so it does not distinguish them.
internal readonly record struct PeerSource(IPAddress? Address, string? Certificate)
{
    public static PeerSource Of(IPEndPoint? from, PeerIdentity? peer) =>
        new(from?.Address, peer is { IsShared: false, Name: var name } ? name : null);
}

// What all clients of one address have together, and what all that show one certificate have.
internal sealed class PeerTotals(long mostOfAddress, long mostOfCertificate)
{
    private readonly Dictionary<IPAddress, long> _byAddress = [];
    private readonly Dictionary<string, long> _byCertificate = [];

    /// <summary>The source that has no room for this amount: an address or a certificate. Null: there is room.</summary>
    public string? FullFor(in PeerSource place, long amount) =>
        place.Address is { } address && _byAddress.GetValueOrDefault(address) + amount > mostOfAddress ? $"address {address}"
        : place.Certificate is { } name && _byCertificate.GetValueOrDefault(name) + amount > mostOfCertificate ? $"certificate '{name}'"
        : null;

    public void Take(in PeerSource place, long amount)
    {
        if (place.Address is { } address)
        {
            Add(_byAddress, address, amount);
        }

        if (place.Certificate is { } name)
        {
            Add(_byCertificate, name, amount);
        }
    }

    public void GiveBack(in PeerSource place, long amount) => Take(place, -amount);

    private static void Add<TKey>(Dictionary<TKey, long> totals, TKey key, long amount)
        where TKey : notnull
    {
        long total = totals.GetValueOrDefault(key) + amount;
        if (total > 0)
        {
            totals[key] = total;
        }
        else
        {
            totals.Remove(key);
        }
    }
}
