using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Transport;

namespace QuickSilver.Multicast.Paths;

// The path to one node: how large its packets may be, and the search for that.
//
//   rest → check (one echo, then a small one too) → search (all smaller sizes, four times what has not come back) → rest
//   rest → growth (all larger sizes, twice) → rest
//
// A reply that is as large as what is looked for ends it at once. Without any reply, the node is silent and nothing is found.
internal sealed class PathSearch
{
    private const int CheckRounds = 2;
    private const int Rounds = 6;
    private const int GrowthRounds = 2;
    private const int MostSilentGrowths = 3;
    private static readonly TimeSpan Round = TimeSpan.FromMilliseconds(120);
    private static readonly TimeSpan CheckInterval = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan FirstGrowth = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan LastGrowth = TimeSpan.FromMinutes(5);

    private readonly PathSizes _sizes;
    private readonly DatagramAddress _address;
    private readonly Alarm _alarm;
    private readonly Alarm _growthAlarm;
    private TimeSpan _growthDelay = FirstGrowth;
    private int _round;
    private int _best;
    private int _silentGrowths;
    private bool _isGrowth;

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

    public TimeSpan CheckedAt { get; private set; } = TimeSpan.MinValue / 2;

    public bool IsSearching { get; private set; }

    /// <summary>Whether nothing is known of it that a new one would not know.</summary>
    public bool IsAtRest => !IsSearching && Bytes == Option;

    private int Option => _sizes.Context.Options.PacketBytes;

    private int Wanted => _isGrowth ? Option : Bytes;

    public bool IsCheckDue(TimeSpan now) => !IsSearching && now - CheckedAt >= CheckInterval;

    public void Check()
    {
        if (!IsSearching)
        {
            Begin(isGrowth: false);
        }
    }

    public void OnReply(int bytes)
    {
        _best = IsSearching ? Math.Max(_best, bytes) : _best;
        if (IsSearching && _best >= Wanted)
        {
            End();
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

    private void Begin(bool isGrowth)
    {
        IsSearching = true;
        _isGrowth = isGrowth;
        _round = 0;
        _best = 0;
        CheckedAt = _sizes.Context.Environment.Now;
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
        if (_round == (_isGrowth ? GrowthRounds : Rounds) || (_best == 0 && _round > CheckRounds))
        {
            End();
            return;
        }

        if (_isGrowth)
        {
            SendSteps(from: Bytes - 1, through: Option);
        }
        else if (_round < CheckRounds)
        {
            if (_round > 0)
            {
                _sizes.Send(this, _address, MulticastOptions.MinPacketBytes);
            }

            _sizes.Send(this, _address, Bytes);
        }
        else
        {
            SendSteps(from: Math.Max(_best, MulticastOptions.MinPacketBytes - 1), through: Bytes);
        }

        _round++;
        _sizes.Context.Environment.Schedule(_alarm, Round);
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
        CheckedAt = _sizes.Context.Environment.Now;
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
                _sizes.Send(this, _address, MulticastOptions.MinPacketBytes, Bytes);
                _sizes.Send(this, _address, MulticastOptions.MinPacketBytes, Bytes);
            }
        }
        else if (Bytes < Option)
        {
            ScheduleGrowth();
        }
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
