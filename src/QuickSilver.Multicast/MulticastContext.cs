using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Flow;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Ordering;
using QuickSilver.Multicast.Reachability;
using QuickSilver.Multicast.Reassembly;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Repair;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Stability;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast;

// What every part of one node's multicast shares.
internal sealed class MulticastContext(INodeEnvironment environment, MulticastOptions options, IMembership membership)
{
    private static readonly TimeSpan DropSampleInterval = TimeSpan.FromMilliseconds(20);

    // Made when first used: a node that has no topic open needs none of them.
    private Token? _token;
    private byte[]? _fullPacket;
    private PullDrafts? _pullDrafts;
    private ReassemblyBudget? _reassembly;
    private RepairBudget? _repairs;
    private SuspicionRateLimit? _suspicions;
    // Null until the service or another node asks for an echo.
    private EchoExchange? _echoes;
    private RateLimit? _checks;
    private long _unicastDrops;
    private TimeSpan _dropsSampledAt = TimeSpan.MinValue;

    public INodeEnvironment Environment { get; } = environment;
    public MulticastOptions Options { get; } = options;
    public IMembership Membership { get; } = membership;
    public MulticastCounters Counters { get; } = new();
    public NodeDirectory Directory { get; } = new(membership.Roster);
    public RetentionBudget Retention { get; } = new(options.RetentionBytes);
    public ReceiveMemory Memory { get; } = new(environment.Buffers, options.PacketBytes);
    public ParkingBudget Parking { get; } = new(options.ParkedBytesOfTopic, options.ParkedBytes);
    public ReassemblyBudget Reassembly => _reassembly ??= new ReassemblyBudget(Environment, Options.ReassemblyBytes);
    public NodeKey Self => Membership.Self;
    public Troubles Troubles => field ??= new();
    // Said once: each group would say the same.
    public bool HasToldOfPorts { get; set; }
    public ILogger Log { get; set; } = NullLogger.Instance;

    /// <summary>Who does not hear this node over a group.</summary>
    public DeafMembers Deaf { get; set; } = null!;

    /// <summary>The token under the hand, of whichever ring, and a packet of the largest size: each used within one call.</summary>
    public Token Token => _token ??= new Token();
    public PullDrafts PullDrafts => _pullDrafts ??= new PullDrafts();
    public byte[] FullPacket => _fullPacket ??= new byte[Options.PacketBytes];

    /// <summary>The node's unicast port: tokens, pulls, acknowledgements and repairs.</summary>
    public required IDatagramPort ControlPort { get; init; }

    /// <summary>
    /// Datagrams that the kernel dropped at the unicast port, where copies come too. Sampled: reading it may cost a system call.
    /// </summary>
    public long UnicastDrops
    {
        get
        {
            var now = Environment.Now;
            if (_dropsSampledAt == TimeSpan.MinValue || now - _dropsSampledAt >= DropSampleInterval)
            {
                _dropsSampledAt = now;
                long drops = ControlPort.KernelDrops;
                Counters.KernelDrops += drops - _unicastDrops;
                _unicastDrops = drops;
            }

            return _unicastDrops;
        }
    }

    /// <summary>An acknowledgement freed room or settled a stream.</summary>
    public required Action OnSenderProgress { get; init; }

    /// <summary>Something waits for another node, and may for long.</summary>
    public required Action OnWait { get; init; }

    /// <summary>This node cannot go on: it leaves the cluster, so that the others do, and says why to those above.</summary>
    public void GiveUp(string reason) => Membership.GiveUp(reason);

    /// <summary>Members of the view that were removed before this node came to know of it.</summary>
    public List<NodeKey> AbsentFrom(RegionView view)
    {
        var absent = Directory.Lacking(view.Members.AsSpan());
        absent.Remove(Self);
        return absent;
    }

    public PacketTemplate Template(RegionView view) =>
        new(Options.ClusterId, Self.Id, Self.Incarnation, view.RegionId, view.Number);

    /// <summary>For what concerns no view.</summary>
    public PacketTemplate Template() => new(Options.ClusterId, Self.Id, Self.Incarnation, 0, 0);

    public void SendControl(ReadOnlySpan<byte> packet, DatagramAddress to) => ControlPort.Send(packet, packet.Length, to);

    /// <summary>A member does not answer: the membership service finds out which of both is at fault.</summary>
    public void ReportSuspect(NodeKey member, string reason)
    {
        if ((_suspicions ??= new SuspicionRateLimit()).IsDue(member, Environment.Now))
        {
            Membership.ReportSuspect(member, reason);
        }
    }

    /// <summary>What is sent again for others; with whom it is for told first.</summary>
    public RepairBudget Repairs => _repairs ??= new RepairBudget(Environment, Options);

    /// <summary>
    /// A sender has had no acknowledgement of a view for so long. Where the sender is no member of it, or all others of it are silent,
    /// nobody else might notice: the first that lives sends the acknowledgements. Whoever of the others is silent is missed by that one.
    /// </summary>
    public void SuspectIfSilent(LiveMembers live, RegionView view, TimeSpan silence)
    {
        int rank = silence < Options.AckSilence ? -1 : live.FirstIn(0, live.Ranks);
        if (rank >= 0 && live[rank] != Self)
        {
            ReportSuspect(live[rank], $"no acknowledgement for {silence.TotalSeconds:0.0} s in {view}");
        }
    }

    /// <summary>False when this node has sent as much again as it may for now: who asked will ask again, as a rule another.</summary>
    public bool MayRepair()
    {
        if (Repairs.Allows())
        {
            return true;
        }

        Counters.RepairsPutOff++;
        return false;
    }

    /// <summary>False when this node has sent as many packets as it may for now to members that had not asked.</summary>
    public bool MayCheck()
    {
        double rate = Options.ChecksPerSecond;
        _checks ??= new RateLimit(Environment.Now, rate, Math.Max(1, rate / 8));
        return _checks.TryTake(Environment.Now, 1);
    }

    /// <summary>False: the system did not take it.</summary>
    public bool SendRepair(ReadOnlySpan<byte> packet, DatagramAddress to) =>
        OnRepair(packet.Length, ControlPort.Send(packet, packet.Length, to));

    /// <summary>A packet was sent again, to one or to all, after <see cref="MayRepair"/>. False: the system did not take it.</summary>
    public bool OnRepair(int bytes, SendOutcome outcome)
    {
        if (outcome != SendOutcome.Sent)
        {
            return false;
        }

        Counters.RepairsSent++;
        Repairs.Charge(bytes);
        return true;
    }

    public EchoExchange Echoes => _echoes ??= new EchoExchange(this);

    public void Close()
    {
        _reassembly?.Close();
        _echoes?.Close();
    }

    /// <summary>Null but in experiments.</summary>
    public IRepairWatch? RepairWatch { get; set; }

    public int RandomBelow(int bound) => (int)(Environment.NextRandom() % (ulong)bound);
}
