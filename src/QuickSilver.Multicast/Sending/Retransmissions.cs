using QuickSilver.Multicast.Dissemination;
using QuickSilver.Multicast.Repair;

namespace QuickSilver.Multicast.Sending;

// Sends packets of one outbound stream again to members that ask for them: to one alone, and to all when another asks for the same at
// about the same time, as then the whole region lost it.
//
// Invariant: while what was sent again for a member may still be on its way to it, it is not sent to it once more.
internal sealed class Retransmissions(
    MulticastContext context, IDisseminator path, RetentionBuffer packets, SendWindow window, Announcements announcements)
{
    private TimeSpan _deniedAt = TimeSpan.MinValue / 2;

    /// <summary>A member asks for these packets.</summary>
    public void Answer(long first, long last, ref AnswerLimit limit, in RepairAsker asker)
    {
        var now = context.Environment.Now;
        if (last > window.Sent && now - _deniedAt >= context.Options.AnnounceMax)
        {
            // Others told of what was never sent. All are to hear that it was not.
            _deniedAt = now;
            announcements.SendToAll();
        }

        (first, last) = limit.Next(first, last, packets.First, window.Sent);
        for (long n = first; n <= last && limit.Packets > 0; n++)
        {
            ref var packet = ref packets[n];
            if (packet.Lease is null)
            {
                continue;
            }

            var age = packet.LastRepair == TimeSpan.MinValue ? TimeSpan.MaxValue : now - packet.LastRepair;
            bool isAgain = age < context.Options.ReorderWindow;
            if ((isAgain && packet.IsRepairedForAll) || (age < context.Options.PullRepeatMax && packet.MayComeTo(asker, n)))
            {
                continue;
            }

            if (!context.MayRepair())
            {
                break;
            }

            bool forAll = isAgain && !packet.WasRepairedFor(asker);
            var bytes = packet.Lease.Span.Slice(packet.Offset, packet.Length);
            bool hasGone = forAll
                ? context.OnRepair(bytes.Length, path.Spread(bytes))
                : context.SendRepair(bytes, asker.Address);
            if (hasGone)
            {
                // What the system refused is asked for again.
                packet.NoteRepair(now, asker, forAll, (int)(window.Sent - n));
            }

            limit.NoteAnswer();
        }
    }
}
