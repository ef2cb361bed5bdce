using System.Net;

namespace QuickSilver.Core.Transport.Tls;

// Who may begin a handshake with a listener. A handshake costs the service a millisecond of a processor for somebody who has not shown
// anything yet: so there are so many at a time, of one address a part of them, and of an address whose handshakes fail again and again only
// a few a second. Who is sent away comes again; its peers at other addresses do not notice.
internal sealed class TlsGate(TimeProvider time)
{
    public const int MostUnderWay = 256;
    public const int MostOfAddress = 64;
    // Failures that are forgiven at once, and then a second.
    public const int FailureBurst = 64;
    private const double FailuresPerSecond = 8;
    // Addresses of which failures are remembered: those that came first.
    private const int MostAddresses = 4096;

    private readonly Dictionary<IPAddress, int> _underWay = [];
    private readonly Dictionary<IPAddress, (double Left, long At)> _failures = [];
    private int _all;

    public int UnderWay => _all;

    /// <summary>Null, or why not, as the end of a sentence.</summary>
    public string? Refuse(IPAddress address)
    {
        if (_all >= MostUnderWay)
        {
            return $"{MostUnderWay} handshakes are under way";
        }

        int ofAddress = _underWay.GetValueOrDefault(address);
        if (ofAddress >= MostOfAddress)
        {
            return $"{MostOfAddress} handshakes with {address} are under way";
        }

        if (Left(address) < 1)
        {
            return $"handshakes with {address} fail again and again";
        }

        _all++;
        _underWay[address] = ofAddress + 1;
        return null;
    }

    public void Leave(IPAddress address, bool hasFailed)
    {
        _all--;
        if (--_underWay[address] == 0)
        {
            _underWay.Remove(address);
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
