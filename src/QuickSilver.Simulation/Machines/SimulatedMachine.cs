using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Net;
using QuickSilver.Core.Environment;
using QuickSilver.Simulation.Disks;
using QuickSilver.Simulation.Machines.Time;

namespace QuickSilver.Simulation.Machines;

// One machine of the cluster: its place in the network stays, its lives come and go. A life is a SimulatedEnvironment;
// a crash ends it, a restart begins the next one, which knows nothing
// of the last but what lies on the disk.
internal sealed class SimulatedMachine
{
    // One for all machines that have no other.
    private static readonly NodeModel UsualModel = new();

    // The first octets of addresses: those of class A networks but for the loopback network.
    private const uint FirstNetwork = 10;
    private const uint MostNetworks = 116;

    private readonly SimulatedMachines _cluster;
    private SimulatedEnvironment? _life;
    private uint _addressesBefore;
    private TimeSpan _pausedUntil;

    internal SimulatedMachine(SimulatedMachines cluster, int number)
    {
        _cluster = cluster;
        Number = number;
        Clock = new DriftingClock(cluster.Time);
        SetAddress();
    }

    public int Number { get; }

    /// <summary>The address of its interface, which lives that begin from now on have.</summary>
    public IPAddress Address { get; private set; }

    /// <summary>What people call its process.</summary>
    public ProcessLabel Label => field ??= new ProcessLabel { Application = string.Create(CultureInfo.InvariantCulture, $"node-{Number}") };

    public NodeModel Model { get; set; } = UsualModel;

    /// <summary>The identity that it proves when it connects; null: none.</summary>
    public string? Identity { get; set; }

    public MachineFaults Faults { get; } = new();

    public bool IsUp => _life is not null;

    public bool IsPaused { get; private set; }

    /// <summary>True while the machine itself is gone, not only its process: then nothing answers for it.</summary>
    public bool IsSilent { get; private set; }

    /// <summary>How many lives it has had, the present one included.</summary>
    public int Lives { get; private set; }

    /// <summary>How far its wall clock is off (F8). Monotonic time is unaffected.</summary>
    public TimeSpan ClockStep { get; set; }

    /// <summary>Its monotonic clock.</summary>
    public DriftingClock Clock { get; }

    /// <summary>Its disk, which keeps its files over the machine's lives.</summary>
    public SimulatedDisk Disk => _cluster.DiskOf(this);

    /// <summary>Whether it carries the membership service and no node.</summary>
    public bool IsService { get; init; }

    public SimulatedEnvironment Environment =>
        _life ?? throw new InvalidOperationException($"Node {Number} is down and has no environment. Restart it first.");

    internal SimulatedEnvironment? Life => _life;

    /// <summary>Whether its interface lost the address of its present life: nothing passes between that and others.</summary>
    internal bool HasNoAddress => Faults.HasNoAddress || (_life is { } life && !ReferenceEquals(life.LocalAddress, Address));

    internal uint AddressBits { get; private set; }

    /// <summary>
    /// Gives its interface another address permanently (F26). The present life keeps the old one, which no interface has any more.
    /// </summary>
    public void ChangeAddress()
    {
        _cluster.Time.CheckThread();
        if (++_addressesBefore == MostNetworks)
        {
            throw new InvalidOperationException($"Node {Number} has had {MostNetworks} addresses, and there are no more.");
        }

        SetAddress();
        _cluster.Network.BreakStreamsLater(this);
    }

    /// <summary>
    /// Stops the core thread (F6) until Resume: what is due meanwhile happens late, what arrives waits in receive buffers.
    /// </summary>
    public void Pause()
    {
        _cluster.Time.CheckThread();
        if (!IsPaused)
        {
            IsPaused = true;
            _cluster.Trace.Add(_cluster.Time.Now, Number, TraceKind.Pause, 0);
        }

        _pausedUntil = TimeSpan.MaxValue;
    }

    /// <summary>Pauses for a while; a pause that is already to last longer stays.</summary>
    public void Pause(TimeSpan duration)
    {
        var until = VirtualTime.Add(_cluster.Time.Now, duration);
        if (IsPaused && _pausedUntil >= until)
        {
            return;
        }

        Pause();
        _pausedUntil = until;
        _cluster.Time.At(until, new ActionEvent(() =>
        {
            if (_pausedUntil == until)
            {
                Resume();
            }
        }));
    }

    public void Resume()
    {
        _cluster.Time.CheckThread();
        if (!IsPaused)
        {
            return;
        }

        IsPaused = false;
        _pausedUntil = TimeSpan.Zero;
        _cluster.Trace.Add(_cluster.Time.Now, Number, TraceKind.Resume, 0);
        _life?.Wake();
    }

    /// <summary>
    /// Ends the present life at once. Its peers' streams are reset, as a system does for a dead process; or, silently (power
    /// lost), they hear nothing and find out by themselves; then its logs lose what was not synced.
    /// </summary>
    public void Crash(bool silently = false)
    {
        _cluster.Time.CheckThread();
        if (_life is not { } life)
        {
            return;
        }

        _life = null;
        IsSilent = silently;
        IsPaused = false;
        _pausedUntil = TimeSpan.Zero;
        _cluster.Trace.Add(_cluster.Time.Now, Number, TraceKind.Crash, silently ? 1UL : 0);
        life.End(silently);
        _cluster.FindDisk(this)?.Crash(powerLost: silently);
        _cluster.NotifyEnded(this);
    }

    /// <summary>Begins a new life and notifies the cluster's NodeStarted, which builds the protocol on it again.</summary>
    public SimulatedEnvironment Restart()
    {
        if (IsUp)
        {
            throw new InvalidOperationException($"Node {Number} is running. Crash it before you restart it.");
        }

        var life = Start();
        _cluster.NotifyStarted(this);
        return life;
    }

    internal SimulatedEnvironment Start()
    {
        IsSilent = false;
        Lives++;
        _life = new SimulatedEnvironment(_cluster, this);
        _cluster.Trace.Add(_cluster.Time.Now, Number, TraceKind.Start, (ulong)Lives);
        return _life;
    }

    [MemberNotNull(nameof(Address))]
    private void SetAddress()
    {
        AddressBits = (FirstNetwork + _addressesBefore) << 24 | (uint)(Number + 1);
        Address = new IPAddress([(byte)(AddressBits >> 24), (byte)(AddressBits >> 16), (byte)(AddressBits >> 8), (byte)AddressBits]);
    }

    public override string ToString() => $"node {Number} ({Address}, life {Lives}{(IsUp ? "" : ", down")}{(IsPaused ? ", paused" : "")})";
}
