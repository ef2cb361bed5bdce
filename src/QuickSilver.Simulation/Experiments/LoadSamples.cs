using QuickSilver.Core.Diagnostics;
using QuickSilver.Multicast;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Stability;

namespace QuickSilver.Simulation.Experiments;

// What is read of the nodes while a run passes: in even intervals the levels and the collector's charge, and after each event what must not
// be missed: an acknowledgement, and the arrival of a token.
internal sealed class LoadSamples(LoadPlan plan, SimulatedCluster cluster)
{
    /// <summary>The length of the intervals that rates over time are of.</summary>
    public static readonly TimeSpan RateInterval = TimeSpan.FromMilliseconds(100);

    private static readonly TimeSpan AlarmInterval = TimeSpan.FromSeconds(1);

    private readonly RepairCollector _repair = new();
    private readonly RepairCollector _perturbed = new();
    private readonly CollectorCharge[] _charges = new CollectorCharge[plan.Nodes];
    private readonly Distribution _ack = new();
    private readonly Distribution _ringRoundTrips = new();
    private readonly Distribution _tokenIntervals = new();
    private readonly AlarmWatch _senderAlarms = new();
    private readonly AlarmWatch _receiverAlarms = new();
    private readonly List<double> _rateOverTime = [];
    private double _roundTripSum;
    private long _roundTrips;
    private double _pendingPackets;
    private double _pendingBytes;
    private double _keptBytes;
    private double _perturbedKeptBytes;
    private int _samples;
    private long _deliveredBefore;
    private TimeSpan _rateSince;
    private TimeSpan _alarmsSince;
    // Packets of one stream of the first sender, at most one of each interval: the next that is sent, and those that were sent since then
    // and are not acknowledged.
    private readonly Queue<(long Number, TimeSpan SentAt)> _onTheWay = new();
    private ISentStream? _followed;
    private long _nextFollowed;
    private RingHierarchy? _rings;
    private TimeSpan _lastToken;

    public double RoundTripMillis => _roundTrips == 0 ? 0 : _roundTripSum / _roundTrips;

    public double WorstRoundTripMillis { get; private set; }

    public double PendingPackets => _pendingPackets / Math.Max(1, _samples) / plan.Senders;

    public double PendingBytes => _pendingBytes / Math.Max(1, _samples) / plan.Senders;

    public double ReceiverKeptBytes => _keptBytes / Math.Max(1, _samples) / (plan.Nodes - plan.Senders);

    public RepairFigures Repair => _repair.Figures;

    /// <summary>The nodes are up and the topics open; nothing was sent yet.</summary>
    public void Begin()
    {
        foreach (var node in cluster.Nodes)
        {
            MulticastOf(node).RepairWatch = _repair.Watch(() => cluster.Now, node == cluster.Nodes[^1] ? _perturbed : null);
            _charges[node.Number] = new CollectorCharge(plan, node);
            _charges[node.Number].Charge(packets: 0, packetBytes: 0);
        }
    }

    public PerturbedFigures Perturbed(long packets) => new(
        _perturbed.Lost / Math.Max(1.0, packets), _perturbedKeptBytes / Math.Max(1, _samples), _perturbed.MeanMillis);

    public CollectorFigures Collector(double seconds)
    {
        var senders = _charges.Take(plan.Senders).ToList();
        var receivers = _charges.Skip(plan.Senders).ToList();
        return new CollectorFigures(
            senders.Average(charge => charge.MeanLiveBytes),
            receivers.Average(charge => charge.MeanLiveBytes),
            senders.Average(charge => charge.Seconds) / seconds,
            receivers.Average(charge => charge.Seconds) / seconds);
    }

    public LoadTraces Traces(Distribution latency) => new()
    {
        Latency = latency,
        Ack = _ack,
        RingRoundTrips = _ringRoundTrips,
        TokenIntervals = _tokenIntervals,
        RateOverTime = _rateOverTime,
        SenderAlarms = _senderAlarms.Delays,
        ReceiverAlarms = _receiverAlarms.Delays,
    };

    /// <summary>After each event; never says that it is time to stop.</summary>
    public bool LookOn()
    {
        if (_followed is { } stream)
        {
            if (_nextFollowed > 0 && stream.Through.Sent >= _nextFollowed)
            {
                _onTheWay.Enqueue((_nextFollowed, cluster.Now));
                _nextFollowed = 0;
            }

            while (_onTheWay.TryPeek(out var first) && stream.Acknowledged >= first.Number)
            {
                _ack.Add((cluster.Now - first.SentAt).Ticks);
                _onTheWay.Dequeue();
            }
        }

        if (_rings is { } rings && rings.LastHeard != _lastToken)
        {
            _tokenIntervals.Add((rings.LastHeard - _lastToken).Ticks);
            _lastToken = rings.LastHeard;
        }

        return false;
    }

    /// <summary>What went before does not count.</summary>
    public void Clear(long delivered)
    {
        _roundTripSum = WorstRoundTripMillis = _pendingPackets = _pendingBytes = _keptBytes = _perturbedKeptBytes = 0;
        _roundTrips = _samples = 0;
        _repair.Forget();
        _perturbed.Forget();
        _rateOverTime.Clear();
        foreach (var distribution in new[] { _ack, _ringRoundTrips, _tokenIntervals })
        {
            distribution.Clear();
        }

        foreach (var charge in _charges)
        {
            charge.Clear();
        }

        _deliveredBefore = delivered;
        _rateSince = _alarmsSince = cluster.Now;
        TakeAlarms();
        _senderAlarms.Clear();
        _receiverAlarms.Clear();
    }

    public void Take(long delivered)
    {
        _samples++;
        foreach (var node in cluster.Nodes)
        {
            if (!node.IsJoined)
            {
                continue;
            }

            TakeRoundTrips(node);
            if (node.Number < plan.Senders)
            {
                TakeSender(node);
            }
            else
            {
                TakeReceiver(node);
            }
        }

        TakeRate(delivered);
        if (cluster.Now - _alarmsSince >= AlarmInterval)
        {
            _alarmsSince = cluster.Now;
            TakeAlarms();
        }

        Watch();
    }

    private void TakeSender(SimulatedNode node)
    {
        long packets = 0;
        foreach (var stream in MulticastOf(node).Streams)
        {
            packets += stream.IsReliable ? stream.Pending : 0;
        }

        long kept = MulticastOf(node).Readings.UnackedBytes;
        _pendingPackets += packets;
        _pendingBytes += kept;
        _charges[node.Number].Charge(packets, kept);
    }

    private void TakeReceiver(SimulatedNode node)
    {
        long kept = 0;
        foreach (var region in MulticastOf(node).Regions)
        {
            foreach (var stream in region.Streams)
            {
                kept += stream.KeptBytes;
            }
        }

        _keptBytes += kept;
        _perturbedKeptBytes += node == cluster.Nodes[^1] ? kept : 0;
        _charges[node.Number].Charge((double)kept / plan.MessageBytes, kept);
    }

    private void TakeRoundTrips(SimulatedNode node)
    {
        foreach (var region in MulticastOf(node).Regions)
        {
            var rings = (RingHierarchy)region.Stability;
            double millis = rings.LastRoundTrip.TotalMilliseconds;
            if (millis > 0)
            {
                _roundTripSum += millis;
                _roundTrips++;
                WorstRoundTripMillis = Math.Max(WorstRoundTripMillis, millis);
            }

            foreach (var ring in rings.Rings)
            {
                if (ring.IsLeader && ring.LastRoundTrip > TimeSpan.Zero)
                {
                    _ringRoundTrips.Add(ring.LastRoundTrip.Ticks);
                }
            }
        }
    }

    private void TakeRate(long delivered)
    {
        var passed = cluster.Now - _rateSince;
        if (passed >= RateInterval)
        {
            double rate = (delivered - _deliveredBefore) / (double)(plan.Nodes - plan.Senders) / passed.TotalSeconds;
            _rateOverTime.Add(rate);
            _deliveredBefore = delivered;
            _rateSince = cluster.Now;
        }
    }

    private void TakeAlarms()
    {
        foreach (var node in cluster.Nodes.Where(node => node.IsJoined))
        {
            (node.Number < plan.Senders ? _senderAlarms : _receiverAlarms).Take(node);
        }
    }

    // The streams and views may be others after a change of members.
    private void Watch()
    {
        // Not only when the one before is acknowledged: those that are sent right after an acknowledgement wait longest for the next.
        var stream = cluster.Nodes[0].IsJoined ? MulticastOf(cluster.Nodes[0]).Streams.LastOrDefault(stream => stream.IsReliable) : null;
        if (stream != _followed)
        {
            _followed = stream;
            _onTheWay.Clear();
        }

        _nextFollowed = (stream?.Through.Sent ?? 0) + 1;

        var receiver = cluster.Nodes[plan.Senders];
        var rings = receiver.IsJoined ? MulticastOf(receiver).Regions.FirstOrDefault()?.Stability as RingHierarchy : null;
        if (rings != _rings)
        {
            _rings = rings;
            _lastToken = rings?.LastHeard ?? default;
        }
    }

    private static MulticastNode MulticastOf(SimulatedNode node) => (MulticastNode)node.Life!.Parts.Multicast;

    private sealed class AlarmWatch
    {
        private readonly Distribution _greatest = new();
        private readonly Dictionary<int, (TimeSpan Total, long Count)> _before = [];
        private TimeSpan _total;
        private long _count;

        public AlarmDelays Delays => new(_greatest, _count == 0 ? 0 : _total.TotalMilliseconds / _count);

        public void Take(SimulatedNode node)
        {
            var lateness = node.Life!.Environment.Counters.AlarmLateness;
            _greatest.Add(lateness.TakeGreatest().Ticks);
            long count = 0;
            for (int i = 0; i < DurationHistogram.Classes; i++)
            {
                count += lateness.CountOf(i);
            }

            var before = _before.GetValueOrDefault(node.Number);
            before = before.Count > count ? default : before;
            _total += lateness.Total - before.Total;
            _count += count - before.Count;
            _before[node.Number] = (lateness.Total, count);
        }

        public void Clear()
        {
            _greatest.Clear();
            _total = default;
            _count = 0;
        }
    }
}
