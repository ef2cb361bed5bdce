using QuickSilver.Simulation.Machines;
using QuickSilver.Simulation.Network;

namespace QuickSilver.Simulation;

/// <summary>
/// One direction between two nodes: what of each send gets through, and when. Has its own random numbers. Used by code that the
/// simulation runs, or between two runs.
/// </summary>
public sealed class SimulatedLink
{
    // Of what a node sends while some of it is held up.
    private const double LateShare = 0.2;

    /// <summary>How long after it came a datagram may come again: by then views, lives and rounds may be others.</summary>
    internal static readonly TimeSpan LongestReplay = TimeSpan.FromSeconds(3);

    private readonly SimulatedNetwork _network;
    private readonly SeededRandom _random;
    private LinkModel? _model;
    private bool _inBurst;
    private bool _isBlocked;
    private TimeSpan _freeAt;
    private TimeSpan _lastArrival;

    internal SimulatedLink(SimulatedNetwork network, SimulatedMachine from, SimulatedMachine to)
    {
        _network = network;
        From = from;
        To = to;
        _random = SeededRandom.Derive(network.Seed, purpose: 2, ((ulong)(uint)from.Number << 32) | (uint)to.Number);
    }

    internal SimulatedMachine From { get; }

    internal SimulatedMachine To { get; }

    /// <summary>How it behaves: as <see cref="SimulatedNetwork.Model"/> unless a model was set for this link.</summary>
    public LinkModel Model => _model ?? _network.Model;

    /// <summary>Datagrams that were to pass.</summary>
    public long Offered { get; private set; }

    /// <summary>Of them, those that did not.</summary>
    public long Lost { get; private set; }

    /// <summary>Of them, those that arrived twice.</summary>
    public long Duplicated { get; private set; }

    /// <summary>Of them, those that others overtook.</summary>
    public long Reordered { get; private set; }

    /// <summary>Of them, those in which a bit was flipped.</summary>
    public long Corrupted { get; private set; }

    /// <summary>Datagrams of another version or of no known kind that it carried beside them, and lies.</summary>
    internal long Strange { get; private set; }

    /// <summary>What streams send waits.</summary>
    internal bool HoldsStreams => IsBlocked || (From != To && (From.Faults.HasNoStreams || To.Faults.HasNoStreams));

    /// <summary>Nothing passes. Streams wait, and break after 15 s.</summary>
    public bool IsBlocked
    {
        get => _isBlocked || From.Faults.IsOffline || To.Faults.IsOffline
            || (From != To && (From.HasNoAddress || To.HasNoAddress));
        set
        {
            if (_isBlocked != value)
            {
                _isBlocked = value;
                BlockNumber++;
                if (value)
                {
                    _network.OnBlocked(this);
                }
            }
        }
    }

    internal int BlockNumber { get; private set; }

    /// <summary>Gives this link a model of its own; null: it behaves again as <see cref="SimulatedNetwork.Model"/>.</summary>
    public void SetModel(LinkModel? model) => _model = model;

    /// <summary>How long a piece of a stream takes: a lost one as long as it takes to send it again.</summary>
    internal TimeSpan StreamDelay(TimeSpan retransmission)
    {
        if (From == To)
        {
            return SimulatedNetwork.LoopbackDelay;
        }

        var model = Model;
        var delay = model.Delay + _random.UpTo(model.Jitter);
        return _random.Chance(model.Loss) ? delay + retransmission : delay;
    }

    /// <summary>Sends what survives on its way, as few arrivals as possible. Borrows the segments.</summary>
    internal void Carry(in FlightSegments run, in Destination destination)
    {
        if (From == To)
        {
            // The loopback: whole, at once, in order.
            run.Flight.AddClaim();
            _network.Arrive(To, _network.Leaves + SimulatedNetwork.LoopbackDelay, run, destination);
            return;
        }

        int firstSurvivor = 0;
        var jitter = _random.UpTo(Model.Jitter);
        int count = run.Count;
        for (int i = 0; i < count; i++)
        {
            var segment = run.Part(i, 1);
            if (_random.Chance(To.Faults.ForeignProbability))
            {
                CarryForeign(segment, jitter, destination);
            }

            if (From.Faults.LieProbability > 0 && _random.Chance(From.Faults.LieProbability))
            {
                CarryLie(segment, jitter, destination);
            }

            if (To.Faults.ForgeryProbability > 0 && _random.Chance(To.Faults.ForgeryProbability))
            {
                CarryForgery(segment, jitter, destination);
            }

            if (GoesStraight(segment, destination, out var departure))
            {
                continue;
            }

            CarryStraight(run, firstSurvivor, i - firstSurvivor, jitter, destination);
            firstSurvivor = i + 1;
            CarryOtherwise(segment, departure, jitter, destination);
        }

        CarryStraight(run, firstSurvivor, count - firstSurvivor, jitter, destination);
    }

    // True: survives unharmed and in its place. False with a departure: arrives, but apart from the rest; without: lost.
    private bool GoesStraight(in FlightSegments segment, in Destination destination, out Parting? departure)
    {
        departure = null;
        var model = Model;
        Offered++;
        if (IsBlocked || IsLost(model, segment, destination) || !Queue(model, segment.Length))
        {
            Lost++;
            _network.Disturbed++;
            return false;
        }

        bool corrupt = _random.Chance(model.Corrupt) || _random.Chance(To.Faults.CorruptProbability);
        bool reorder = _random.Chance(model.Reorder);
        bool duplicate = _random.Chance(model.Duplicate);
        if (From.Faults.OutboundHold > TimeSpan.Zero && _random.Chance(LateShare))
        {
            reorder |= _random.Chance(0.5);
            duplicate |= !reorder;
        }

        if (_random.Chance(To.Faults.ReplayProbability))
        {
            Duplicated++;
            segment.Flight.AddClaim();
            _network.Arrive(To, Earliest(TimeSpan.Zero) + _random.UpTo(LongestReplay), segment, destination);
        }

        if (!corrupt && !reorder && !duplicate)
        {
            return true;
        }

        departure = new Parting(corrupt, reorder, duplicate);
        return false;
    }

    private bool IsLost(LinkModel model, in FlightSegments segment, in Destination destination)
    {
        if (segment.Length > (model.LargestDatagramBytes ?? int.MaxValue) || (model.MulticastOff && destination.IsGroup))
        {
            return true;
        }

        if (From.Faults.SendsNoDatagrams || To.Faults.HearsNoDatagrams)
        {
            return true;
        }

        if (segment.Length > (To.Faults.InboundLargestBytes ?? int.MaxValue) || (To.Faults.IsOutOfGroups && destination.IsGroup)
            || (To.Faults.IsDeafToRepair && ForeignDatagram.IsPull(segment.Span)))
        {
            return true;
        }

        if (_network.Drops(this, segment.Span) || _random.Chance(To.Model.InboundLoss))
        {
            return true;
        }

        if (model.Burst is { } burst)
        {
            _inBurst = _inBurst ? !_random.Chance(burst.EndProbability) : _random.Chance(burst.BeginProbability);
            if (_inBurst && _random.Chance(burst.LossInBurst))
            {
                return true;
            }
        }
        else
        {
            _inBurst = false;
        }

        return _random.Chance(model.Loss);
    }

    private bool Queue(LinkModel model, int bytes)
    {
        if (model.BytesPerSecond is not { } rate)
        {
            _freeAt = TimeSpan.Zero;
            return true;
        }

        var start = _freeAt > _network.Leaves ? _freeAt : _network.Leaves;
        if (start - _network.Leaves > model.QueueLimit)
        {
            return false;
        }

        // Rounded up to a tick: a fast link must not carry small datagrams for nothing.
        long ticks = (long)(((Int128)bytes * TimeSpan.TicksPerSecond + rate - 1) / rate);
        _freeAt = start + TimeSpan.FromTicks(ticks);
        return true;
    }

    private void CarryStraight(in FlightSegments run, int first, int count, TimeSpan jitter, in Destination destination)
    {
        if (count > 0)
        {
            run.Flight.AddClaim();
            _network.Arrive(To, InTurn(jitter), run.Part(first, count), destination);
        }
    }

    private void CarryOtherwise(in FlightSegments segment, Parting? parting, TimeSpan jitter, in Destination destination)
    {
        if (parting is not { } how)
        {
            return;
        }

        var carried = segment;
        if (how.Corrupt)
        {
            Corrupted++;
            carried = new FlightSegments(new Flight(segment.Span, _network.Air), 0, segment.Length, segment.SegmentBytes);
            int bit = _random.Below(segment.Length * 8);
            carried.Span[bit / 8] ^= (byte)(1 << (bit % 8));
        }
        else
        {
            carried.Flight.AddClaim();
        }

        var hold = From.Faults.OutboundHold > Model.ReorderHold ? From.Faults.OutboundHold : Model.ReorderHold;
        if (how.Duplicate)
        {
            Duplicated++;
            carried.Flight.AddClaim();
            _network.Arrive(To, Earliest(jitter) + _random.UpTo(hold), carried, destination);
        }

        if (how.Reorder)
        {
            Reordered++;
            _network.Disturbed++;
            _network.Arrive(To, Earliest(jitter) + _random.UpTo(hold), carried, destination);
        }
        else
        {
            _network.Arrive(To, InTurn(jitter), carried, destination);
        }
    }

    // The same datagram as another version of the protocol would send it, or of an unknown kind, and sealed as it must be.
    private void CarryForeign(in FlightSegments segment, TimeSpan jitter, in Destination destination)
    {
        var foreign = new FlightSegments(new Flight(segment.Span, _network.Air), 0, segment.Length, segment.SegmentBytes);
        ForeignDatagram.Make(foreign.Span, _random);
        Strange++;
        _network.Arrive(To, Earliest(jitter), foreign, destination);
    }

    // A datagram that a member sends besides, as one that counts wrong or means harm would: no other node may suffer from it.
    private void CarryLie(in FlightSegments segment, TimeSpan jitter, in Destination destination)
    {
        var lie = new FlightSegments(new Flight(segment.Span, _network.Air), 0, segment.Length, segment.SegmentBytes);
        if (!IsBlocked && LyingDatagram.TryMake(lie.Span, _random))
        {
            Strange++;
            _network.Disturbed++;
            _network.Arrive(To, Earliest(jitter), lie, destination);
        }
        else
        {
            lie.Flight.Release();
        }
    }

    // What a stranger who hears all makes of this datagram and of those that went before, here or elsewhere.
    private void CarryForgery(in FlightSegments segment, TimeSpan jitter, in Destination destination)
    {
        if (IsBlocked || !SealedForgery.IsSealed(segment.Span))
        {
            return;
        }

        byte[] made = _network.Captures.Forge(segment.Span, _random);
        // Not a disturbance: nothing is to be repaired for it.
        Strange++;
        var forgery = new FlightSegments(new Flight(made, _network.Air), 0, made.Length, Math.Max(segment.SegmentBytes, made.Length));
        _network.Arrive(To, Earliest(jitter), forgery, destination);
    }

    private TimeSpan Earliest(TimeSpan jitter) => (_freeAt > _network.Leaves ? _freeAt : _network.Leaves) + Model.Delay + jitter;

    private TimeSpan InTurn(TimeSpan jitter)
    {
        var arrival = Earliest(jitter);
        return _lastArrival = arrival > _lastArrival ? arrival : _lastArrival;
    }

    private readonly record struct Parting(bool Corrupt, bool Reorder, bool Duplicate);
}
