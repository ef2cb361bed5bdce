using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Dissemination;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Repair;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Sending.Acknowledgement;
using QuickSilver.Multicast.Sending.Packing;
using QuickSilver.Multicast.Sending.Repairs;

namespace QuickSilver.Multicast.Tests.Infrastructure;

// One node's stream into a view, by itself: the test acknowledges, asks for repairs, and reads what is sent.
internal sealed class LoneSender
{
    public const int Members = 4;

    // The sender is the last of the members; its part as a member of the view is closed.
    private readonly LoneMember _node;
    private long _next = 1;

    public LoneSender(StreamClass streamClass = default, MulticastOptions? options = null, bool usesGroup = true, int copies = 1)
    {
        _node = new LoneMember(Members, Members - 1, options);
        _node.Region.Close();
        Path = new RecordingPath { UsesGroup = usesGroup, SpreadDatagrams = copies };
        Stream = new RegionSender(_node.Context.Sending, _node.View, streamClass, Path);
    }

    public RegionSender Stream { get; }

    public RecordingPath Path { get; }

    public HandDrivenEnvironment Environment => _node.Environment;

    public MulticastOptions Options => _node.Options;

    public RetentionBudget Retention => _node.Context.Sending.Retention;

    public MulticastCounters Counters => _node.Context.Counters;

    public RecordingPort ControlPort => _node.Port;

    public List<NodeKey> Suspects => _node.Membership.Suspects;

    public NodeKey[] Keys => _node.Keys;

    /// <summary>A receive buffer with which the window stays at what it begins with.</summary>
    public long SteadyBuffer => 2L * Stream.WindowPackets * Options.PacketBytes;

    public void Advance(TimeSpan by) => Environment.Advance(by);

    public void Advance(double milliseconds) => Environment.Advance(milliseconds);

    /// <summary>The pause after a new view is over.</summary>
    public LoneSender Opened()
    {
        Advance(Options.ReconfigurationPause);
        return this;
    }

    /// <summary>Messages that fill a packet each.</summary>
    public void Append(int packets, StabilityClaim? claim = null)
    {
        var payload = new byte[Options.PacketBytes - PacketHeader.Bytes - MessageHeader.Bytes];
        for (int i = 0; i < packets; i++)
        {
            Stream.Append(5, _next++, null, [], payload, claim);
        }
    }

    public void Send(int packets)
    {
        Append(packets);
        Stream.FlushSoon();
        Environment.EndTurn();
    }

    /// <summary>All members hold, have consumed and read up to these.</summary>
    public void Ack(long stable, long? consumed = null, long? read = null)
    {
        Stream.OnAck(stable, consumed ?? stable, read ?? consumed ?? stable, 0, SteadyBuffer);
        Environment.EndTurn();
    }

    /// <summary>A member asks for packets, and says up to where it knows the stream.</summary>
    public void Ask(int rank, long first, long last, long known = 0, int most = 256)
    {
        var budget = new AnswerBudget(most);
        var member = Keys[rank];
        _node.Context.Sending.Repairs.Budget.For(member);
        var asker = new RepairAsker(member, new DatagramAddress(LoneMember.EndPointOf(member)), known);
        Stream.Retransmissions.Answer(first, last, ref budget, asker);
    }

    /// <summary>The rings report that all members lacked the packets so long ago.</summary>
    public void AskForAll(long first, long last, double ageMilliseconds = 0, int most = 256)
    {
        var budget = new AnswerBudget(most);
        var leader = Keys[0];
        _node.Context.Sending.Repairs.Budget.For(leader);
        var asker = new RepairAsker(leader, new DatagramAddress(LoneMember.EndPointOf(leader)), 0);
        Stream.Retransmissions.AnswerAll(first, last, ref budget, asker, TimeSpan.FromMilliseconds(ageMilliseconds));
    }

    /// <summary>Notes that a member asks for the packets, as one answer.</summary>
    public void Note(int rank, params (long First, long Last)[] ranges)
    {
        var asker = new RepairAsker(Keys[rank], new DatagramAddress(LoneMember.EndPointOf(Keys[rank])), 0);
        if (!Pending.TryBegin(asker, Options.PullAnswerPackets, ranges.Length))
        {
            return;
        }

        foreach (var (first, last) in ranges)
        {
            Pending.Add(Stream.Retransmissions, new SequenceRange(first, last));
        }
    }

    public PendingRepairs Pending => ((IRepairQueue)_node.Context).Pending;

    public SocketSink Sockets => _node.Context.Sending.Sockets;

    /// <summary>Packets that went to single members again.</summary>
    public List<SentPacket> TakeRepairs() => ControlPort.Take(PacketKind.Data);

    public List<SentPacket> TakeAnnouncements() => Path.TakeSpread(PacketKind.Announce);
}

// A way to a region that keeps what is sent along it.
internal sealed class RecordingPath : IDisseminator
{
    private readonly List<SentPacket> _spread = [];

    public int MaxRunSegments => 64;

    public bool UsesGroup { get; init; }

    public bool IsUnderWay { get; set; }

    public int SpreadDatagrams { get; init; } = 1;

    /// <summary>What the path calls when it has room again.</summary>
    public Action? OnRoom { get; set; }

    /// <summary>Whether the next run that is sent ends what is under way.</summary>
    public bool Finishes { get; set; }

    /// <summary>What the system says to each run.</summary>
    public SendOutcome Outcome { get; set; } = SendOutcome.Sent;

    /// <summary>The packets of each run that was tried.</summary>
    public List<SentPacket[]> Runs { get; } = [];

    public int Packets => Runs.Sum(run => run.Length);

    public SendOutcome Send(in DataRun sent)
    {
        var run = sent.Bytes;
        int segmentBytes = sent.SegmentBytes;
        var packets = new List<SentPacket>();
        for (; run.Length > 0; run = run[Math.Min(segmentBytes, run.Length)..])
        {
            packets.Add(new SentPacket(run[..Math.Min(segmentBytes, run.Length)].ToArray(), LoneMember.EndPointOf(default)));
        }

        Runs.Add([.. packets]);
        IsUnderWay &= !Finishes;
        return Outcome;
    }

    public SendOutcome Spread(ReadOnlySpan<byte> packet)
    {
        _spread.Add(new SentPacket(packet.ToArray(), LoneMember.EndPointOf(default)));
        return SendOutcome.Sent;
    }

    /// <summary>Single packets of the kind that went to all since they were last taken.</summary>
    public List<SentPacket> TakeSpread(PacketKind kind)
    {
        var taken = _spread.FindAll(packet => packet.Kind == kind);
        _spread.RemoveAll(packet => packet.Kind == kind);
        return taken;
    }
}
