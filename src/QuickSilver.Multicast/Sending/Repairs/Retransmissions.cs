using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Dissemination;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Sending.Packing;

namespace QuickSilver.Multicast.Sending.Repairs;

// Sends packets of one outbound stream again to members that ask for them: to one alone, and to all when another asks for the same at
// about the same time, or when the rings have found that all members lack them.
//
// Invariant: while what was sent again for a member may still be on its way to it, it is not sent to it once more.
internal sealed class Retransmissions(
    SendingParts parts, IDisseminator path, RetentionBuffer packets, SendWindow window, Announcements announcements,
    PacketTemplate template)
{
    private const byte MostDoublings = 8;

    private TimeSpan _deniedAt = TimeSpan.MinValue / 2;
    private bool _isClosed;

    private NodeContext Context => parts.Node;

    private RepairTransmission Repairs => parts.Repairs;

    /// <summary>The stream is closed: what was asked for just before is not sent again, and not denied.</summary>
    public void Close() => _isClosed = true;

    /// <summary>All members lacked these packets when they reported it, up to so long ago.</summary>
    public void AnswerAll(long first, long last, ref AnswerBudget budget, in RepairAsker leader, TimeSpan age)
    {
        var now = Context.Environment.Now;
        DenyBeyondSent(last, now);
        (first, last) = budget.Next(first, last, packets.First, window.Sent);
        for (long n = first; n <= last && budget.Packets > 0; n++)
        {
            ref var packet = ref packets[n];
            if (packet.Lease is null)
            {
                continue;
            }

            bool isAgain = packet.LastRepair != TimeSpan.MinValue && packet.IsRepairedForAll;
            var since = isAgain ? now - packet.LastRepair : TimeSpan.MaxValue;
            // Their report may be older than the last repair, or they have not read the packets that were sent before it. Packets
            // that were sent twice probably wait at them, or the group reaches no member.
            if (since <= age + Context.Options.ReorderWindow || since < Spacing(packet.Naks)
                || (since < Context.Options.PullRepeatMax && packet.MayComeTo(leader, n)))
            {
                continue;
            }

            if (!Repairs.MayRepair())
            {
                break;
            }

            if (TrySend(ref packet, n, leader, forAll: true))
            {
                Context.Counters.RepairsToAll++;
                packet.Naks = Math.Min((byte)(packet.Naks + 1), MostDoublings);
            }

            if (isAgain)
            {
                // Perhaps the group reaches no member. The leader passes it on.
                Repairs.SendRepair(BytesOf(packet), leader.Address, EntryOf(n));
            }

            budget.NoteAnswer();
        }
    }

    /// <summary>A member asks for these packets.</summary>
    public void Answer(long first, long last, ref AnswerBudget budget, in RepairAsker asker)
    {
        var now = Context.Environment.Now;
        DenyBeyondSent(last, now);
        (first, last) = budget.Next(first, last, packets.First, window.Sent);
        for (long n = first; n <= last && budget.Packets > 0; n++)
        {
            ref var packet = ref packets[n];
            if (packet.Lease is null)
            {
                continue;
            }

            var age = packet.LastRepair == TimeSpan.MinValue ? TimeSpan.MaxValue : now - packet.LastRepair;
            bool isAgain = age < Context.Options.ReorderWindow;
            bool isDone = isAgain && (packet.IsRepairedForAll || packet.WasRepairedFor(asker));
            if (isDone || (age < Context.Options.PullRepeatMax && packet.MayComeTo(asker, n)))
            {
                continue;
            }

            if (packet.WasRepairedFor(asker) && packet.Length > NodeOptions.MinPacketBytes)
            {
                parts.Paths.Sizes.Suspect(asker.Address);
            }

            if (!Repairs.MayRepair())
            {
                break;
            }

            TrySend(ref packet, n, asker, forAll: isAgain);
            budget.NoteAnswer();
        }
    }

    // What the system refused is not noted, and is asked for again.
    private bool TrySend(ref RetainedPacket packet, long number, in RepairAsker asker, bool forAll)
    {
        var bytes = BytesOf(packet);
        bool hasGone = forAll ? TrySpread(bytes, EntryOf(number)) : Repairs.SendRepair(bytes, asker.Address, EntryOf(number));
        if (hasGone)
        {
            packet.NoteRepair(Context.Environment.Now, asker, forAll, (int)(window.Sent - number));
        }

        return hasGone;
    }

    // Where members get copies, each counts against the budget.
    private bool TrySpread(ReadOnlySpan<byte> bytes, in SharedEntry entry)
    {
        var repair = Repairs.AsRepair(bytes, entry);
        var outcome = repair.Length <= parts.Paths.Sizes.Smallest ? path.Spread(repair) : SpreadPieces(repair);
        return Repairs.OnRepair(bytes.Length * path.SpreadDatagrams, outcome);
    }

    private SendOutcome SpreadPieces(ReadOnlySpan<byte> whole)
    {
        var cut = parts.Paths.Pieces.Begin(whole, parts.Paths.Sizes.Smallest);
        var outcome = SendOutcome.Sent;
        for (int i = 0; i < cut.Count && outcome == SendOutcome.Sent; i++)
        {
            outcome = path.Spread(cut[i]);
        }

        Context.Counters.PacketsCut++;
        return outcome;
    }

    private static ReadOnlySpan<byte> BytesOf(in RetainedPacket packet) => packet.Lease!.Span.Slice(packet.Offset, packet.Length);

    private SharedEntry EntryOf(long number) => new(template.Region, template.View, number);

    private TimeSpan Spacing(int naks)
    {
        var doubled = Context.Options.PullRepeat * (1 << naks);
        return doubled < Context.Options.PullRepeatMax ? doubled : Context.Options.PullRepeatMax;
    }

    // Others reported what was never sent. All are to hear that it was not.
    private void DenyBeyondSent(long last, TimeSpan now)
    {
        if (!_isClosed && last > window.Sent && now - _deniedAt >= Context.Options.AnnounceMax)
        {
            _deniedAt = now;
            announcements.SendToAll();
        }
    }
}
