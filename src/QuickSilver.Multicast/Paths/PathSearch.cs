using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Transport;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Paths;

// The path to one node: how large its packets may be, and the search for that.
//
//   rest → check (one echo, then a small one too) → search (all smaller sizes, six times what has not come back) → rest
//   rest → growth (all larger sizes, twice) → rest
//
// Meanwhile packets are lost, and each costs repairs. So when a path is suspected, because much is asked for again or an echo is late, a
// small echo follows the large one. If only the small one comes back, the search begins at once, and until it ends packets have the
// largest size that has come back so far. If the large one comes back after all, nothing of this remains.
//
// A reply that is as large as what is looked for ends it at once. Without any reply for a second, the node is silent and nothing is found.
//
// What goes wrong: on a machine that is short of time, replies come hundreds of milliseconds late. A check that gave up before the first
// of them would find nothing, again and again, while the large packets are lost. So it continues until one comes, and the search that
// follows waits as long for its replies as that one took.
internal sealed class PathSearch
{
    private const int MostCheckRounds = 8;
    private const int SearchRounds = 6;
    private const int GrowthRounds = 2;
    private const int MostSilentGrowths = 3;
    private static readonly TimeSpan Round = TimeSpan.FromMilliseconds(120);
    private static readonly TimeSpan LongestRound = TimeSpan.FromMilliseconds(240);
    private static readonly TimeSpan CheckInterval = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan SuspicionSpacing = TimeSpan.FromMilliseconds(250);
    private static readonly TimeSpan FirstGrowth = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan LastGrowth = TimeSpan.FromMinutes(5);

    private readonly PathSizes _sizes;
    private readonly DatagramAddress _address;
    private readonly Alarm _alarm;
    private readonly Alarm _growthAlarm;
    private TimeSpan _growthDelay = FirstGrowth;
    private TimeSpan _wait;
    private TimeSpan _begunAt = TimeSpan.MinValue / 2;
    private TimeSpan _suspicionEndedAt = TimeSpan.MinValue / 2;
    private int _round;
    private int _searchRound;
    private int _best;
    private int _silentGrowths;
    private bool _isGrowth;
    private bool _isSuspected;

    public PathSearch(PathSizes sizes, DatagramAddress address)
    {
        _sizes = sizes;
        _address = address;
        _alarm = new Alarm(Step);
        _growthAlarm = new Alarm(Grow);
        Bytes = Option;
    }

    public IPEndPoint EndPoint => _address.EndPoint;

    /// <summary>The largest packet that is known to pass, or not known not to.</summary>
    public int Bytes { get; private set; }

    public bool IsSearching { get; private set; }

    /// <summary>The largest packet to send there now: what the search has found so far, if something smaller came back alone.</summary>
    public int Usable => IsSearching && _isSuspected && _best > 0 ? Math.Min(_best, Bytes) : Bytes;

    /// <summary>Whether nothing is known of it that a new one would not know.</summary>
    public bool IsAtRest => !IsSearching && Bytes == Option;

    private int Option => _sizes.Context.Options.PacketBytes;

    private int Wanted => _isGrowth ? Option : Bytes;

    // Since the last one began: a stream asks once a second, and would otherwise find a check that ended a moment after its time not due.
    public bool IsCheckDue(TimeSpan now) => !IsSearching && now - _begunAt >= CheckInterval;

    /// <summary>Whether it may be suspected, although it was checked a short time ago.</summary>
    public bool MaySuspect(TimeSpan now) =>
        IsSearching ? !_isGrowth && !_isSuspected : now - _suspicionEndedAt >= SuspicionSpacing;

    /// <summary>Begins a check.</summary>
    /// <param name="isSuspected">Whether something large did not come.</param>
    public void Check(bool isSuspected = false)
    {
        if (!IsSearching)
        {
            Begin(isGrowth: false, isSuspected);
        }
        else if (isSuspected && !_isGrowth && !_isSuspected)
        {
            _isSuspected = true;
            Step();
        }
    }

    public void OnReply(int bytes)
    {
        if (!IsSearching)
        {
            return;
        }

        bool isFirst = _best == 0;
        if (isFirst)
        {
            var took = _sizes.Context.Environment.Now - _begunAt;
            _wait = took < Round ? Round : took > LongestRound ? LongestRound : took;
        }

        _best = Math.Max(_best, bytes);
        if (_best >= Wanted)
        {
            End();
        }
        else if (isFirst && _isSuspected)
        {
            // The small echo was sent after the large one, whose reply is missing.
            Step();
        }
        else
        {
            _sizes.OnSearch();
        }
    }

    /// <summary>The other end has found the size.</summary>
    public void Learn(int bytes)
    {
        if (bytes < Bytes)
        {
            Set(bytes);
        }
    }

    public void Close()
    {
        _sizes.Context.Environment.Cancel(_alarm);
        _sizes.Context.Environment.Cancel(_growthAlarm);
        IsSearching = false;
    }

    private void Begin(bool isGrowth, bool isSuspected = false)
    {
        IsSearching = true;
        _isGrowth = isGrowth;
        _isSuspected = isSuspected;
        _round = 0;
        _searchRound = 0;
        _best = 0;
        _wait = Round;
        _begunAt = _sizes.Context.Environment.Now;
        Step();
    }

    private void Grow()
    {
        if (IsSearching)
        {
            ScheduleGrowth();
        }
        else
        {
            Begin(isGrowth: true);
        }
    }

    private void Step()
    {
        bool isOver = _isGrowth ? _round == GrowthRounds : _searchRound == SearchRounds || (_best == 0 && _round == MostCheckRounds);
        if (isOver)
        {
            End();
            return;
        }

        if (_isGrowth)
        {
            SendSteps(from: Bytes - 1, through: Option);
        }
        else if (_best == 0)
        {
            _isSuspected |= _round > 0;
            _sizes.Send(this, _address, Bytes);
            if (_isSuspected)
            {
                _sizes.Send(this, _address, NodeOptions.MinPacketBytes);
            }
        }
        else
        {
            SendSteps(from: _best, through: Bytes);
            _searchRound++;
        }

        _round++;
        _sizes.OnSearch();
        _sizes.Context.Environment.Schedule(_alarm, _wait);
    }

    // The smallest first: a firewall sees a run that the receiving kernel has joined as one large datagram.
    private void SendSteps(int from, int through)
    {
        foreach (int bytes in _sizes.Steps)
        {
            if (bytes > Math.Max(from, _best) && bytes <= through)
            {
                _sizes.Send(this, _address, bytes);
            }
        }
    }

    private void End()
    {
        Close();
        _suspicionEndedAt = _isSuspected ? _sizes.Context.Environment.Now : _suspicionEndedAt;
        _silentGrowths = _best > 0 ? 0 : _silentGrowths + (_isGrowth ? 1 : 0);
        if (_silentGrowths > MostSilentGrowths)
        {
            Bytes = Option;
            _sizes.Forget(this);
            return;
        }

        if (_isGrowth)
        {
            _growthDelay = _growthDelay * 2 < LastGrowth ? _growthDelay * 2 : LastGrowth;
            _best = Math.Max(_best, Bytes);
        }

        if (_best > 0 && _best != Bytes)
        {
            _growthDelay = _best < Bytes ? FirstGrowth : _growthDelay;
            bool isLower = _best < Bytes;
            Set(_best);
            if (isLower)
            {
                // Twice, as any datagram may be lost; and small, so that it passes.
                _sizes.Send(this, _address, NodeOptions.MinPacketBytes, Bytes);
                _sizes.Send(this, _address, NodeOptions.MinPacketBytes, Bytes);
            }
        }
        else if (Bytes < Option)
        {
            ScheduleGrowth();
        }

        _sizes.OnSearch();
    }

    private void Set(int bytes)
    {
        int before = Bytes;
        Bytes = bytes;
        if (Bytes < Option)
        {
            ScheduleGrowth();
        }

        _sizes.OnChange(this, before);
    }

    private void ScheduleGrowth() => _sizes.Context.Environment.Schedule(_growthAlarm, _growthDelay);
}
