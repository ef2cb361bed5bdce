using System.Net;
using QuickSilver.Core.Transport.Descriptors;

namespace QuickSilver.Core.Transport.Tls;

// Admits handshakes with a listener. A handshake costs the service a millisecond of a processor for a peer that has not proved anything
// yet. So the number at a time is limited, of one address to a part of it, and of an address whose handshakes fail again and again to a few
// a second. A peer that is refused comes again; its peers at other addresses do not notice.
//
// Intuition: a peer that connects and sends nothing holds a place for as long as a handshake may take, and has not failed yet. So a few
// addresses could hold all places. Once these are taken, an address that has far more of them than the newcomer's gives one up: its oldest,
// as an honest handshake is over in milliseconds. A newcomer whose address has none always finds a place.
//
// Where the process may open few more descriptors, there are as many places as handshakes are under way: each newcomer takes that of
// another one. If no address has more handshakes than the newcomer's, it is the newcomer's oldest.
//
// What goes wrong: of addresses that have one handshake each, the oldest of all gives way. An attacker that connects from that many
// addresses, within the time that a handshake takes, still keeps others out. Two addresses of which one has one more do not take places
// from each other: each would lose what the service has done for it already, and would come again for the other's.
internal sealed class TlsGate<THandshake>(TimeProvider time)
    where THandshake : class
{
    public const int MostUnderWay = 256;
    public const int MostOfAddress = 64;
    // Failures that are forgiven at once, and then a second.
    public const int FailureBurst = 64;
    private const double FailuresPerSecond = 8;
    // Addresses of which failures are remembered: those that came first.
    private const int MostAddresses = 4096;

    // The oldest first.
    private readonly List<(IPAddress Address, THandshake Handshake)> _underWay = [];
    private readonly Dictionary<IPAddress, int> _ofAddress = [];
    private readonly Dictionary<IPAddress, (double Left, long At)> _failures = [];

    /// <summary>Null, or why not, as the end of a sentence.</summary>
    /// <param name="address">The newcomer's.</param>
    /// <param name="displaced">The handshake that is to be closed, and to leave, before the newcomer enters; null: none.</param>
    public string? Refuse(IPAddress address, out THandshake? displaced)
    {
        displaced = null;
        int ofAddress = _ofAddress.GetValueOrDefault(address);
        if (ofAddress >= MostOfAddress)
        {
            return $"{MostOfAddress} handshakes with {address} are under way";
        }

        if (Left(address) < 1)
        {
            return $"handshakes with {address} fail again and again";
        }

        if (_underWay.Count < MostUnderWay)
        {
            return null;
        }

        displaced = GivingWay.Find(_underWay, one => _ofAddress[one], ofAddress);
        return displaced is null ? $"{MostUnderWay} handshakes are under way" : null;
    }

    /// <summary>The handshake that gives way to a newcomer where there is no place but those that are taken; null: none.</summary>
    public THandshake? FindOldest(IPAddress newcomer) => Left(newcomer) < 1
        ? null
        : GivingWay.Find(_underWay, one => _ofAddress[one], _ofAddress.GetValueOrDefault(newcomer))
            ?? _underWay.Find(one => one.Address.Equals(newcomer)).Handshake;

    public void Enter(IPAddress address, THandshake handshake)
    {
        _underWay.Add((address, handshake));
        _ofAddress[address] = _ofAddress.GetValueOrDefault(address) + 1;
    }

    public void Leave(THandshake handshake, bool hasFailed)
    {
        int at = _underWay.FindIndex(one => one.Handshake == handshake);
        var address = _underWay[at].Address;
        _underWay.RemoveAt(at);
        if (--_ofAddress[address] == 0)
        {
            _ofAddress.Remove(address);
        }

        if (hasFailed)
        {
            OnFailed(address);
        }
    }

    private void OnFailed(IPAddress address)
    {
        double left = Left(address) - 1;
        if (_failures.Count >= MostAddresses && !_failures.ContainsKey(address))
        {
            ForgetForgiven();
        }

        if (_failures.Count < MostAddresses || _failures.ContainsKey(address))
        {
            _failures[address] = (left, time.GetTimestamp());
        }
    }

    private double Left(IPAddress address) => _failures.TryGetValue(address, out var known) ? Left(known) : FailureBurst;

    private double Left((double Left, long At) known) =>
        Math.Min(FailureBurst, known.Left + (time.GetElapsedTime(known.At).TotalSeconds * FailuresPerSecond));

    private void ForgetForgiven()
    {
        foreach (var (address, known) in _failures)
        {
            if (Left(known) >= FailureBurst)
            {
                _failures.Remove(address);
            }
        }
    }
}
