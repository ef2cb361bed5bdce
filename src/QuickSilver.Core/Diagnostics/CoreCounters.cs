namespace QuickSilver.Core.Diagnostics;

// What one node's machine room counts since its start. Written by the core thread alone; read by any thread, each value
// by itself and perhaps a moment old.
internal sealed class CoreCounters
{
    /// <summary>The queues of the core thread.</summary>
    public const int Queues = 7;

    /// <summary>Receives that brought bytes; a coalesced run counts once.</summary>
    public long RunsReceived;

    /// <summary>Bytes of those runs.</summary>
    public long BytesReceived;

    /// <summary>Datagrams handed to the kernel; each segment of a run counts.</summary>
    public long DatagramsSent;

    /// <summary>Bytes of those datagrams.</summary>
    public long BytesSent;

    /// <summary>Sends that the system had no room for; nothing of them was sent.</summary>
    public long BusySends;

    /// <summary>Datagrams that the system refused, or that were left of a run when it had no more room.</summary>
    public long RefusedSends;

    /// <summary>Errors that a receive reports, such as an ICMP refusal of an earlier send; the port lives on.</summary>
    public long ReceiveErrors;

    /// <summary>Receives put off because the packet memory was all leased.</summary>
    public long PoolExhaustions;

    /// <summary>Exceptions that callbacks let escape.</summary>
    public long HandlerExceptions;

    /// <summary>Pauses: steps of over 50 ms, and wakes as late as that.</summary>
    public long LongSteps;

    /// <summary>The length of all pauses together, in ticks of 100 ns.</summary>
    public long PauseTicks;

    /// <summary>The longest pause, in ticks of 100 ns.</summary>
    public long LongestPauseTicks;

    /// <summary>Pauses in which the process did not run.</summary>
    public long PausesNotRunning;

    /// <summary>Pauses of which the collector took most.</summary>
    public long PausesOfCollector;

    /// <summary>Pauses of which the compiler took most.</summary>
    public long PausesOfCompiler;

    /// <summary>Steps that took long by themselves.</summary>
    public long PausesOfHandlers;

    /// <summary>Parts of turns that ended because their quantum was over, with work left.</summary>
    public long QuantaExceeded;

    /// <summary>Alarms that fired more than <see cref="LateAlarm"/> after they were due.</summary>
    public long LateAlarms;

    /// <summary>Time spent on received runs, in ticks of 100 ns.</summary>
    public long InputTicks;

    /// <summary>Time spent on alarms, in ticks of 100 ns.</summary>
    public long AlarmTicks;

    /// <summary>Time spent on requests, in ticks of 100 ns.</summary>
    public long RequestTicks;

    /// <summary>Time spent on what was put off to the ends of turns, in ticks of 100 ns: on sending, and on the disk.</summary>
    public long OutputTicks;

    /// <summary>Time the collector has stopped this process for since the core thread began, in ticks of 100 ns.</summary>
    public long GcPauseTicks;

    /// <summary>Times the core thread blocked until a socket, a wake or an alarm.</summary>
    public long Sleeps;

    /// <summary>Short rests under load, taken so that one wake serves many datagrams.</summary>
    public long Naps;

    /// <summary>An alarm that is later than this is reported to users.</summary>
    public static readonly TimeSpan LateAlarm = TimeSpan.FromMilliseconds(10);

    /// <summary>How late alarms fire.</summary>
    public DurationHistogram AlarmLateness => field ??= new DurationHistogram();

    /// <summary>
    /// Time spent on each of the core thread's queues, by their priority, in ticks of 100 ns. The two inbound ones together are
    /// <see cref="InputTicks"/>, and the other four <see cref="OutputTicks"/>.
    /// </summary>
    public long[] QueueTicks => field ??= new long[Queues];

    public TimeSpan GcPauseTime => TimeSpan.FromTicks(Volatile.Read(ref GcPauseTicks));
}
