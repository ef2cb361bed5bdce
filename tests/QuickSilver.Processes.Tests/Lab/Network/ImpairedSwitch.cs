using System.Diagnostics;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Lab.Network;

// An Ethernet switch between namespaces that harms traffic as configured, each directed pair of nodes on its own.
//
// One thread reads the TAPs in turn. A frame to one node goes there, one to many goes to all others, and on each pair it
// meets its own fate. A run of UDP segments passes whole where nothing harms it; elsewhere it is cut into the frames
// that a wire would carry. Frames that wait lie in HeldFrames until their time comes.
//
// What can go wrong: the thread is slower than the senders (their devices drop: see TapDevice.DroppedBeforeTheSwitch),
// or this process pauses for a collection, which looks like a pause of the whole network.
internal sealed class ImpairedSwitch : IDisposable
{
    private const int FramesPerTurn = 256;
    private const int LargestFrame = Frame.Smallest + 65_535;
    private static readonly TimeSpan LongestSleep = TimeSpan.FromMilliseconds(20);
    private readonly NetworkNamespaces _network;
    private readonly Link[,] _links;
    private readonly RunWriter[] _writers;
    private readonly HeldFrames _held = new();
    private readonly byte[] _frame = new byte[LargestFrame];
    private readonly byte[] _segment = new byte[LargestFrame];
    private readonly Thread _thread;
    private volatile bool _stop;
    private UdpCensus? _census;
    private Tampering? _tampering;

    public ImpairedSwitch(NetworkNamespaces network, ulong seed = 1)
    {
        _network = network;
        _links = new Link[network.Count + 1, network.Count + 1];
        _writers = new RunWriter[network.Count + 1];
        for (var from = 1; from <= network.Count; from++)
        {
            _writers[from] = new RunWriter(network.Tap(from));
            for (var to = 1; to <= network.Count; to++)
            {
                _links[from, to] = new Link(seed, from, to);
            }
        }

        _thread = new Thread(Run) { IsBackground = true, Name = "impaired switch" };
        _thread.Start();
    }

    /// <summary>When set, sees each UDP frame or run as it comes in.</summary>
    public UdpCensus? Census
    {
        get => Volatile.Read(ref _census);
        set => Volatile.Write(ref _census, value);
    }

    /// <summary>What it changes in the datagrams of one node; null: nothing.</summary>
    public Tampering? Tampering
    {
        get => Volatile.Read(ref _tampering);
        set => Volatile.Write(ref _tampering, value);
    }

    public Impairment this[int from, int to]
    {
        get => _links[from, to].Impairment;
        set => _links[from, to].Impairment = value;
    }

    /// <summary>What became of the UDP frames of a pair.</summary>
    public LinkCounters Counters(int from, int to) => _links[from, to].Counters;

    /// <summary>Packets of a pair that were larger than its MTU.</summary>
    public long TooLarge(int from, int to) => _links[from, to].Counters.TooLarge + _links[from, to].OtherCounters.TooLarge;

    /// <summary>Frames or runs that a receiving kernel would not take.</summary>
    public long Refused => _writers.Skip(1).Sum(w => w.Refused);

    public void SetAll(Impairment impairment) => Change((_, _) => true, _ => impairment);

    /// <summary>Cuts the nodes in two halves that do not hear each other.</summary>
    public void Partition(params int[] island) =>
        Change((from, to) => island.Contains(from) != island.Contains(to), i => i with { Blocked = true });

    public void Heal() => Change((_, _) => true, i => i with { Blocked = false, MulticastOff = false });

    public void SetMulticast(bool on) => Change((_, _) => true, i => i with { MulticastOff = !on });

    public void Dispose()
    {
        _stop = true;
        _thread.Join();
    }

    private void Change(Func<int, int, bool> concerns, Func<Impairment, Impairment> change)
    {
        for (var from = 1; from <= _network.Count; from++)
        {
            for (var to = 1; to <= _network.Count; to++)
            {
                if (from != to && concerns(from, to))
                {
                    this[from, to] = change(this[from, to]);
                }
            }
        }
    }

    private void Run()
    {
        // A wire does not wait for a processor.
        _ = Linux.SetPriority(0, 0, -10);
        var polls = new Linux.PollEntry[_network.Count];
        for (var i = 0; i < polls.Length; i++)
        {
            polls[i] = new Linux.PollEntry { File = _network.Tap(i + 1).File, Events = Linux.PollIn };
        }

        while (!_stop)
        {
            DeliverDue();
            var sleep = Sleep();
            if (Linux.Poll(polls, (nuint)polls.Length, in sleep, 0) <= 0)
            {
                continue;
            }

            for (var i = 0; i < polls.Length; i++)
            {
                if (polls[i].Returned != 0)
                {
                    Drain(i + 1);
                }
            }
        }
    }

    private Linux.TimeSpec Sleep()
    {
        var time = LongestSleep;
        if (_held.NextDue is { } due)
        {
            var wait = Stopwatch.GetElapsedTime(Stopwatch.GetTimestamp(), due);
            time = wait < TimeSpan.Zero ? TimeSpan.Zero : wait < time ? wait : time;
        }

        return new Linux.TimeSpec { Nanoseconds = (nint)(time.Ticks * 100) };
    }

    private void DeliverDue()
    {
        var now = Stopwatch.GetTimestamp();
        while (_held.TryTakeDue(now, out var held))
        {
            var frame = new Frame(held.Buffer.AsSpan(0, held.Length));
            var counters = _links[held.From, held.To].CountersOf(frame.IsUdp);
            counters.Held--;
            counters.Forwarded++;
            _writers[held.To].Write(frame);
            _held.Return(held);
        }

        FlushAll();
    }

    private void Drain(int from)
    {
        var file = _network.Tap(from).File;
        for (var i = 0; i < FramesPerTurn; i++)
        {
            var length = Linux.Read(file, _frame, (nuint)_frame.Length);
            if (length < Frame.Smallest)
            {
                break;
            }

            Arrive(from, new Frame(_frame.AsSpan(0, (int)length)));
        }

        FlushAll();
    }

    private void Arrive(int from, Frame frame)
    {
        if (frame.IsUdp)
        {
            Census?.Count(frame);
        }

        var tampering = frame.IsUdp && Tampering is { } one && one.From == from ? one : null;
        // Nodes harmed take the run cut, and all of them the same segment before any of them takes the next.
        var harmed = 0u;
        var frames = frame.IsUdpRun ? (frame.Payload.Length + frame.SegmentBytes - 1) / frame.SegmentBytes : 1;
        for (var to = 1; to <= _network.Count; to++)
        {
            if (to == from || !(frame.IsForMany || frame.LastByteOfDestination == to))
            {
                continue;
            }

            var impairment = _links[from, to].Impairment;
            if (tampering is not null || !impairment.IsHarmless || impairment.Stops(frame.IsIpMulticast))
            {
                harmed |= 1u << (to - 1);
                continue;
            }

            _links[from, to].PassUntouched(frame, frames);
            _writers[to].Write(frame);
        }

        for (var segment = 0; harmed != 0 && segment < frames; segment++)
        {
            var alone = frame.IsUdpRun ? new Frame(_segment.AsSpan(0, frame.CutSegment(segment, _segment))) : frame;
            tampering?.Apply(alone);
            for (var to = 1; to <= _network.Count; to++)
            {
                if ((harmed & (1u << (to - 1))) != 0)
                {
                    Forward(from, to, alone);
                }
            }
        }
    }

    private void Forward(int from, int to, Frame frame)
    {
        var link = _links[from, to];
        var counters = link.CountersOf(frame.IsUdp);
        var fate = link.Decide(link.Impairment, frame);
        for (var copy = 0; copy < fate.Copies; copy++)
        {
            var delay = copy == 0 ? fate.DelayTicks : fate.SecondDelayTicks;
            if (delay <= 0)
            {
                counters.Forwarded++;
                _writers[to].Write(frame);
            }
            else if (_held.TryHold(frame.Bytes, from, to, Stopwatch.GetTimestamp() + delay))
            {
                counters.Held++;
            }
            else
            {
                counters.Overflowed++;
            }
        }
    }

    private void FlushAll()
    {
        for (var to = 1; to <= _network.Count; to++)
        {
            _writers[to].Flush();
        }
    }
}
