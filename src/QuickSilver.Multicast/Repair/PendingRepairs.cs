using System.Runtime.InteropServices;
using QuickSilver.Core.Flow;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Sending.Packing;
using QuickSilver.Multicast.Sending.Repairs;

namespace QuickSilver.Multicast.Repair;

// What others asked this node to send again, or lack, until the sockets ask for it: at the end of the turn, before new data (001,
// section 4). The packets to send are chosen then. Packets that all members hold by then, that others have had meanwhile, or for which no
// budget is left, are never made.
//
// Invariants: the ranges of one answer follow each other, and the first begins the answer. At most so many ranges wait, of each member and
// together; what exceeds them is refused, and is asked for again. Each turn takes a bounded number of them, whether or not they cause a
// packet.
internal sealed class PendingRepairs(SendingParts parts) : IFeed
{
    // A pull has at most 100 ranges. A member that asks all the time leaves room for the others.
    private const int MostRanges = 8192;
    private const int MostRangesOfAsker = MostRanges / 8;
    private const int RangesOfTurn = 1024;
    private const int PacketsOfTurn = 64;
    private const int PushLimit = 32;

    private readonly Queue<PendingRepair> _ranges = new();
    // How many of them are for each member.
    private readonly Dictionary<NodeKey, int> _waiting = [];
    // Of the answer that is being noted: for whom, and how many packets it may have; 0 when its first range is noted.
    private RepairAsker _asker;
    private int _packets;
    private AnswerBudget _budget;

    bool IFeed.IsInLine { get; set; }

    public int Count => _ranges.Count;

    /// <summary>Begins an answer of so many ranges and packets, to which the next ranges belong. False: too many ranges wait.</summary>
    public bool TryBegin(in RepairAsker asker, int packets, int ranges)
    {
        if (_ranges.Count + ranges > MostRanges || _waiting.GetValueOrDefault(asker.Node) + ranges > MostRangesOfAsker)
        {
            return false;
        }

        _asker = asker;
        _packets = packets;
        return true;
    }

    /// <summary>A member asks for these packets of a stream of this node.</summary>
    public void Add(Retransmissions own, SequenceRange range) => Add(new PendingRepair { Own = own, Range = range });

    /// <summary>All members lacked these packets of a stream of this node, as was known at this time.</summary>
    public void AddForAll(Retransmissions own, SequenceRange range, TimeSpan knownAt) =>
        Add(new PendingRepair { Own = own, Range = range, IsForAll = true, Time = knownAt });

    /// <summary>
    /// A member lacks these packets of another node, which this one keeps. Packets that were sent to it within the spacing are still in
    /// flight.
    /// </summary>
    public void Add(IKeptStream cached, SequenceRange range, TimeSpan spacing) =>
        Add(new PendingRepair { Cached = cached, Range = range, Time = spacing });

    /// <summary>Sends those packets to the neighbour that are missing there and kept here.</summary>
    public void Push(IKeptStream cached, SequenceRanges gaps, NodeKey neighbour) =>
        Push(cached, gaps.Ranges, neighbour, PushLimit, parts.Node.Options.PullRepeat);

    /// <summary>Sends one packet that is kept here to a member that is known to lack it.</summary>
    public void PushOne(IKeptStream cached, long number, NodeKey member) =>
        Push(cached, [new SequenceRange(number, number)], member, packets: 1, TimeSpan.Zero);

    private void Push(
        IKeptStream cached, ReadOnlySpan<SequenceRange> ranges, NodeKey to, int packets, TimeSpan spacing)
    {
        if (parts.Node.Directory.Find(to) is { } address
            && TryBegin(new RepairAsker(to, address, 0), packets, ranges.Length))
        {
            foreach (var range in ranges)
            {
                Add(cached, range, spacing);
            }
        }
    }

    public bool Pull(ref PullBudget budget)
    {
        int packets = 0;
        for (int looks = 0; looks < RangesOfTurn && packets < PacketsOfTurn && _ranges.TryDequeue(out var repair); looks++)
        {
            Uncount(repair.Asker.Node);
            if (repair.Packets > 0)
            {
                _budget = new AnswerBudget(repair.Packets);
                parts.Repairs.Budget.For(repair.Asker.Node);
            }

            int before = _budget.Packets;
            if (!_budget.IsSpent)
            {
                Answer(repair);
            }

            packets += before - _budget.Packets;
            budget.Charge(0);
        }

        return _ranges.Count > 0;
    }

    private void Add(in PendingRepair repair)
    {
        _ranges.Enqueue(repair with { Asker = _asker, Packets = _packets });
        _packets = 0;
        _waiting[_asker.Node] = _waiting.GetValueOrDefault(_asker.Node) + 1;
        parts.Sockets.Register(this, FeedPriority.Repair);
    }

    private void Uncount(NodeKey asker)
    {
        if (--CollectionsMarshal.GetValueRefOrNullRef(_waiting, asker) == 0)
        {
            _waiting.Remove(asker);
        }
    }

    private void Answer(in PendingRepair repair)
    {
        var (first, last) = repair.Range;
        if (repair.Cached is { } cached)
        {
            SendCached(cached, first, last, repair.Asker, repair.Time);
        }
        else if (repair.IsForAll)
        {
            repair.Own!.AnswerAll(first, last, ref _budget, repair.Asker, parts.Node.Environment.Now - repair.Time);
        }
        else
        {
            repair.Own!.Answer(first, last, ref _budget, repair.Asker);
        }
    }

    // A packet that was sent to the same member within the spacing is still in flight.
    private void SendCached(IKeptStream cached, long first, long last, in RepairAsker asker, TimeSpan spacing)
    {
        (first, last) = _budget.Next(first, last, cached.Stable + 1, cached.Highest);
        for (long n = first; n <= last && _budget.Packets > 0 && parts.Repairs.MayRepair(); n++)
        {
            bool isAgain = cached.WasSentTo(n, asker.Node);
            if (cached.TryGetPacket(n, asker.Node, spacing, out var packet))
            {
                if (isAgain && packet.Length > NodeOptions.MinPacketBytes)
                {
                    parts.Paths.Sizes.Suspect(asker.Address);
                }

                parts.Repairs.SendRepair(packet, asker.Address, new SharedEntry(cached.View.RegionId, cached.View.Number, n));
                _budget.NoteAnswer();
            }
        }
    }
}

// One range of packets to send again.
internal readonly record struct PendingRepair
{
    /// <summary>The stream of this node that has them, if it is the sender.</summary>
    public Retransmissions? Own { get; init; }

    /// <summary>The stream of another node, of which this one keeps them.</summary>
    public IKeptStream? Cached { get; init; }

    public required SequenceRange Range { get; init; }

    public RepairAsker Asker { get; init; }

    /// <summary>In the first range of an answer: how many packets it may have. Otherwise 0.</summary>
    public int Packets { get; init; }

    /// <summary>Whether all members lack them, as was known at <see cref="Time"/>.</summary>
    public bool IsForAll { get; init; }

    /// <summary>For packets of another node: what was sent to the same member within this time is still in flight.</summary>
    public TimeSpan Time { get; init; }
}

// The node that keeps what is to be sent again.
internal interface IRepairQueue
{
    /// <summary>Created when the first packet is to be sent again.</summary>
    PendingRepairs Pending { get; }
}
