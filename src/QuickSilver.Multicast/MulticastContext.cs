using System.Net;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Flow;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Ordering.Credit;
using QuickSilver.Multicast.Paths;
using QuickSilver.Multicast.Reachability;
using QuickSilver.Multicast.Reassembly;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Receiving.Ports;
using QuickSilver.Multicast.Repair;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Sealing;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Sending.Repairs;
using QuickSilver.Multicast.Sending.Shared;
using QuickSilver.Multicast.Stability;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast;

// What all parts of one node's multicast share.
internal sealed class MulticastContext(INodeEnvironment environment, MulticastOptions options, IMembership membership)
{
    // These objects are created when they are first used: a node without open topics needs none of them.
    private Token? _token;
    private byte[]? _fullPacket;
    private byte[]? _repair;
    private PullDrafts? _pullDrafts;
    private ReassemblyBudget? _reassembly;
    private HeapShortage? _shortage;
    private RepairBudget? _repairs;
    private SuspicionRateLimit? _suspicions;
    private SocketSink? _sockets;
    private PendingRepairs? _pendingRepairs;
    private SharedCopies? _sharedCopies;
    // Null until the service or another node requests an echo.
    private EchoExchange? _echoes;
    private RateLimit? _checks;
    private DropSample _unicastDrops;
    private PieceCutter? _pieces;
    private PathSizes? _sizes;

    public INodeEnvironment Environment { get; } = environment;
    public MulticastOptions Options { get; } = options;
    public IMembership Membership { get; } = membership;
    public MulticastCounters Counters { get; init; } = new();
    public NodeDirectory Directory { get; } = new(membership.Roster);
    public RetentionBudget Retention { get; } = new(options.RetentionBytes);
    public ReceiveMemory Memory { get; } = new(environment.Buffers, options.PacketBytes, environment.Heap);
    public ParkingBudget Parking { get; } = new(options.ParkedBytesOfTopic, options.ParkedBytes, environment.Heap);
    public ReassemblyBudget Reassembly => _reassembly ??= new ReassemblyBudget(Environment, Options.ReassemblyBytes);

    /// <summary>What waits for memory of the heap. Created before any message comes.</summary>
    public HeapShortage Shortage => _shortage ??= new HeapShortage(this);

    public NodeKey Self => Membership.Self;

    /// <summary>A node as a person reads it.</summary>
    public NamedNode Named(NodeKey node) => Membership.Names.Named(node);

    public Troubles Troubles => field ??= new();

    /// <summary>The root of all that this node sends of its streams.</summary>
    public SocketSink Sockets => _sockets ??= new SocketSink(Environment);

    /// <summary>What to send again at the end of this turn.</summary>
    public PendingRepairs PendingRepairs => _pendingRepairs ??= new PendingRepairs(this);

    /// <summary>Sends what streams have registered to be flushed, and what waits to be sent to several regions at once.</summary>
    public void FlushSockets() => _sockets?.FlushAll();

    /// <summary>Copies of shared packets; used within one call only.</summary>
    public SharedCopies SharedCopies => _sharedCopies ??= new SharedCopies();

    // Set after the first warning, because each group would repeat it.
    public bool HasToldOfPorts { get; set; }
    public ILogger Log { get; set; } = NullLogger.Instance;

    /// <summary>The port that sends to groups; null if packets go to each member by itself, or in another way.</summary>
    public IDatagramPort? GroupPort { get; set; }

    /// <summary>Gets what arrives at the ports of this node.</summary>
    public IDatagramReceiver? Receiver { get; set; }

    /// <summary>The addresses of topics at which this node receives. Null until there is one.</summary>
    public TopicPorts? TopicPorts { get; private set; }

    /// <summary>A configuration has told topics, of which this node receives some at addresses of their own.</summary>
    public void ApplyAddresses(ConfigurationChange change, Func<ulong, IPEndPoint?> addressOf)
    {
        var news = change.Topics.Where(static view => view.Address is not null).Select(static view => view.TopicId).ToArray();
        if (TopicPorts is null && (news.Length == 0 || Receiver is null))
        {
            return;
        }

        (TopicPorts ??= new TopicPorts(this, Receiver!)).Apply(change.Number, addressOf, news);
    }

    /// <summary>The topics whose addresses members of some regions do not hear. Null while there are none.</summary>
    public UnheardTopics? Unheard { get; private set; }

    /// <summary>A member of the region reports that it does not hear the topic's address.</summary>
    public void NoteUnheard(ulong topicId, ulong region) => (Unheard ??= new UnheardTopics(Environment)).Add(topicId, region);

    /// <summary>The members that do not hear this node over a group.</summary>
    public DeafMembers Deaf { get; set; } = null!;

    /// <summary>The token of any ring, and a packet of the largest size. Each is used within one call only.</summary>
    public Token Token => _token ??= new Token();
    public PullDrafts PullDrafts => _pullDrafts ??= new PullDrafts();
    /// <summary>How many packets of this size, before they are sealed, the longest run has that reaches its receivers whole.</summary>
    public int PacketsInRun(int packetBytes) => SegmentationOffload.RunSegments(
        packetBytes + (Options.DatagramBytes - Options.PacketBytes), Environment.LocalAddress.AddressFamily);

    /// <summary>How large packets may be.</summary>
    public PathSizes Sizes => _sizes ??= new PathSizes(this);

    /// <summary>The number of paths whose packet size is known or looked for.</summary>
    public int KnownPaths => _sizes?.Count ?? 0;

    /// <summary>A node is not a member any more.</summary>
    public void OnNodeGone(LostNode lost)
    {
        if (lost.EndPoint is { } at)
        {
            _sizes?.OnNodeGone(at);
        }
    }

    public PieceCutter Pieces => _pieces ??= new PieceCutter(this);

    public byte[] FullPacket => _fullPacket ??= new byte[Options.PacketBytes];

    /// <summary>The unicast port of the node, for tokens, pulls, acknowledgements and repairs.</summary>
    public required IDatagramPort ControlPort { get; init; }

    /// <summary>The port as it appears in received runs.</summary>
    public IDatagramPort ArrivalPort => ControlPort is SealingPort sealing ? sealing.Inner : ControlPort;

    /// <summary>
    /// The datagrams that the kernel dropped at the unicast port, where copies arrive too. The value is sampled.
    /// </summary>
    public long UnicastDrops
    {
        get
        {
            if (_unicastDrops.IsDue(Environment.Now))
            {
                Counters.KernelDrops += _unicastDrops.Note(ControlPort.KernelDrops);
            }

            return _unicastDrops.Drops;
        }
    }

    /// <summary>Called when an acknowledgement has freed room or settled a stream.</summary>
    public required Action OnSenderProgress { get; init; }

    /// <summary>Called when something waits for another node, and may wait for long.</summary>
    public required Action OnWait { get; init; }

    /// <summary>
    /// Leaves the cluster because this node cannot continue, so that the others can, and passes the reason to the layer above.
    /// </summary>
    public void GiveUp(string reason) => Membership.GiveUp(reason);

    /// <summary>The members of the view that were removed before this node learnt of it.</summary>
    public List<NodeKey> AbsentFrom(RegionView view)
    {
        var absent = Directory.Lacking(view.Members.AsSpan());
        absent.Remove(Self);
        return absent;
    }

    public PacketTemplate Template(RegionView view) =>
        new(Options.ClusterId, Self.Id, Self.Incarnation, view.RegionId, view.Number);

    /// <summary>A template for packets that concern no view.</summary>
    public PacketTemplate Template() => new(Options.ClusterId, Self.Id, Self.Incarnation, 0, 0);

    public void SendControl(ReadOnlySpan<byte> packet, DatagramAddress to) => ControlPort.Send(packet, packet.Length, to);

    /// <summary>Reports a member that does not answer. The membership service determines which of the two nodes is faulty.</summary>
    public void ReportSuspect(NodeKey member, string reason)
    {
        if ((_suspicions ??= new SuspicionRateLimit()).IsDue(member, Environment.Now))
        {
            Membership.ReportSuspect(member, reason);
        }
    }

    /// <summary>The budget for retransmissions to others. The requester is set first.</summary>
    public RepairBudget Repairs => _repairs ??= new RepairBudget(Environment, Options);

    /// <summary>
    /// Suspects the leader of a view whose sender has had no acknowledgement for so long. If the sender is not a member of the view, or
    /// all its other members are silent, no other node might notice. The first live member sends the acknowledgements; it detects any
    /// other member that is silent.
    /// </summary>
    public void SuspectIfSilent(LiveMembers live, RegionView view, TimeSpan silence)
    {
        int rank = silence < Options.AckSilence ? -1 : live.FirstIn(0, live.Ranks);
        if (rank >= 0 && live[rank] != Self)
        {
            ReportSuspect(live[rank], $"no acknowledgement for {silence.TotalSeconds:0.0} s in {view}");
        }
    }

    /// <summary>
    /// Returns false if this node has retransmitted as much as it may for now. The requester will ask again, usually another member.
    /// </summary>
    public bool MayRepair()
    {
        if (Repairs.Allows())
        {
            return true;
        }

        Counters.RepairsPutOff++;
        return false;
    }

    /// <summary>Returns false if this node has sent as many packets as it may for now to members that have not asked.</summary>
    public bool MayCheck()
    {
        double rate = Options.ChecksPerSecond;
        _checks ??= new RateLimit(Environment.Now, rate, Math.Max(1, rate / 8));
        return _checks.TryTake(Environment.Now, 1);
    }

    /// <summary>Returns false if the system did not accept the packet.</summary>
    public bool SendRepair(ReadOnlySpan<byte> packet, DatagramAddress to, in SharedEntry entry)
    {
        var repair = AsRepair(packet, entry);
        int most = Sizes.To(to);
        return OnRepair(
            packet.Length, repair.Length <= most ? ControlPort.Send(repair, repair.Length, to) : SendPieces(repair, most, to));
    }

    private SendOutcome SendPieces(ReadOnlySpan<byte> whole, int most, DatagramAddress to)
    {
        var cut = Pieces.Begin(whole, most);
        for (int i = 0; i < cut.Count; i++)
        {
            var piece = cut[i];
            if (ControlPort.Send(piece, piece.Length, to) is var outcome && outcome != SendOutcome.Sent)
            {
                return outcome;
            }
        }

        Counters.PacketsCut++;
        return SendOutcome.Sent;
    }

    /// <summary>
    /// The data packet with the mark of a repair. The packet that is kept remains as it is, so this is a copy, valid until the next call.
    /// </summary>
    /// <param name="packet">The packet as it is kept. A shared packet is kept as it came, without its list.</param>
    /// <param name="entry">Which packet it is in which stream.</param>
    public ReadOnlySpan<byte> AsRepair(ReadOnlySpan<byte> packet, in SharedEntry entry)
    {
        if (_repair is null || _repair.Length < packet.Length)
        {
            _repair = new byte[Math.Max(packet.Length, Options.PacketBytes)];
        }

        var copy = _repair.AsSpan(0, packet.Length);
        packet.CopyTo(copy);
        if (new PacketHeader(copy).Kind == PacketKind.Shared)
        {
            SharedPacket.MakeData(copy, entry);
        }

        PacketTemplate.AddFlags(copy, PacketFlags.Repair);
        if (Options.IsSealed)
        {
            PacketTemplate.CompleteWithoutChecksum(copy);
        }
        else
        {
            PacketTemplate.Seal(copy);
        }

        return copy;
    }

    /// <summary>
    /// Records that a packet was sent again, to one member or to all, after <see cref="MayRepair"/>. Returns false if the system did not
    /// accept it.
    /// </summary>
    /// <param name="bytes">Of all datagrams that this took.</param>
    /// <param name="outcome">What the system has answered.</param>
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

    public NodePauses? Pauses { get; set; }

    /// <summary>This node stood still for so long.</summary>
    public void OnPause(TimeSpan length) => _echoes?.OnPause(length);

    public EchoExchange Echoes => _echoes ??= new EchoExchange(this);

    public void Close()
    {
        Pauses?.Close();
        _sockets?.Close();
        _reassembly?.Close();
        _shortage?.Close();
        _echoes?.Close();
        _sizes?.Close();
    }

    /// <summary>Null except in experiments.</summary>
    public IRepairWatch? RepairWatch { get; set; }

    public int RandomBelow(int bound) => (int)(Environment.NextRandom() % (ulong)bound);
}
