using QuickSilver.Core.Environment;
using QuickSilver.Core.Flow;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Repair;

// What a node sends again for others, in all views together.
//
// Intuition: one limit, as it is one card that all of it goes through; but one that asks for everything all the time is not to use up
// what others need now and then. Application: while more than an eighth of the burst is left, whoever asks gets it, so one alone gets all
// there is. The last eighth is for those who have had least of late: each as much of it as falls to it when those who asked in the
// present period share alike. What goes wrong: more ask than are told apart; the rest share as if they were one.
internal sealed class RepairBudget(INodeEnvironment environment, MulticastOptions options)
{
    // What may go at once, unless that is only a few packets; and how long it is remembered who had how much: that much of a second.
    private const double BurstSeconds = 1.0 / 32;
    private const double LongestBurstSeconds = 1.0 / 4;
    private const double FewPackets = 16;
    private const int MostAskers = 64;
    private const int ReservePart = 8;
    // A share is left for one that has not asked yet.
    private const int LeastShares = 4;
    private static readonly TimeSpan Period = TimeSpan.FromSeconds(BurstSeconds);

    private readonly RateLimit _all = new(environment.Now, options.RepairBytesPerSecond, BurstOf(options));

    private readonly Dictionary<NodeKey, long> _had = [];
    private TimeSpan _periodEnds;
    private NodeKey _asker;
    private long _askerHad;

    /// <summary>Askers that are told apart now.</summary>
    public int Askers => _had.Count;

    /// <summary>What is asked for from now on is for this member.</summary>
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

    /// <summary>Whether a packet more may go.</summary>
    public bool Allows()
    {
        double left = _all.Available(environment.Now);
        double reserve = Reserve;
        return left > reserve || (left > 0 && _askerHad < reserve / Math.Max(LeastShares, _had.Count));
    }

    public void Charge(int bytes)
    {
        _all.Charge(environment.Now, 1, bytes);
        _had[_asker] = _askerHad += bytes;
    }

    // None where it is less than a packet for each share.
    private double Reserve =>
        _all.Burst / ReservePart >= LeastShares * options.PacketBytes ? _all.Burst / ReservePart : 0;

    // Who asks waits long before it asks again: with a low rate one request is to be answered with more than one packet.
    private static double BurstOf(MulticastOptions options)
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
