using QuickSilver.Core.Environment;
using QuickSilver.Core.Flow;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Sending.Repairs;

// Limits what a node sends again for others, in all views together (T12).
//
// Intuition: there is one limit because all retransmissions pass one network card, but a member that requests everything all the time must
// not use up what others need from time to time. Application: while more than an eighth of the burst is left, any request is served, so a
// single requester gets all of it. The last eighth is reserved for the requesters that had least recently: each may use an equal part of
// it, divided by the requesters of the present period. What goes wrong: there may be more requesters than are counted apart; the others
// share one part.
internal sealed class RepairBudget(INodeEnvironment environment, NodeOptions options)
{
    // What may be sent at once, unless that is only a few packets, and the length of a period, both as a part of a second. The share
    // that each requester had is remembered for one period.
    private const double BurstSeconds = 1.0 / 32;
    private const double LongestBurstSeconds = 1.0 / 4;
    private const double FewPackets = 16;
    private const int MostAskers = 64;
    private const int ReservePart = 8;
    // A part is left for a member that has not requested anything yet.
    private const int LeastShares = 4;
    private static readonly TimeSpan Period = TimeSpan.FromSeconds(BurstSeconds);

    private readonly RateLimit _all = new(environment.Now, options.RepairBytesPerSecond, BurstOf(options));

    private readonly Dictionary<NodeKey, long> _had = [];
    private TimeSpan _periodEnds;
    private NodeKey _asker;
    private long _askerHad;

    /// <summary>The requesters that are counted apart now.</summary>
    public int Askers => _had.Count;

    /// <summary>Charges what follows to this member.</summary>
    public void For(NodeKey asker)
    {
        StartPeriodIfDue();
        _asker = asker;
        if (!_had.TryGetValue(asker, out _askerHad) && _had.Count >= MostAskers)
        {
            _asker = default;
            _askerHad = _had.GetValueOrDefault(_asker);
        }
    }

    /// <summary>Whether another packet may be sent.</summary>
    public bool Allows()
    {
        double left = _all.Available(environment.Now);
        double reserve = Reserve;
        return left > reserve || (left > 0 && _askerHad < reserve / Math.Max(LeastShares, _had.Count));
    }

    public void Charge(int bytes)
    {
        _all.Charge(environment.Now, bytes);
        _had[_asker] = _askerHad += bytes;
    }

    // Zero if it is less than a packet for each part.
    private double Reserve =>
        _all.Burst / ReservePart >= LeastShares * options.PacketBytes ? _all.Burst / ReservePart : 0;

    // A requester waits long before it asks again, so one request must be answered with more than one packet even at a low rate.
    private static double BurstOf(NodeOptions options)
    {
        double few = Math.Min(FewPackets * options.PacketBytes, options.RepairBytesPerSecond * LongestBurstSeconds);
        return Math.Max(options.PacketBytes, Math.Max(few, options.RepairBytesPerSecond * BurstSeconds));
    }

    private void StartPeriodIfDue()
    {
        if (environment.Now >= _periodEnds)
        {
            _periodEnds = environment.Now + Period;
            _had.Clear();
        }
    }
}
