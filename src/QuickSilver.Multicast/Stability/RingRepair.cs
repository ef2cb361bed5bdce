using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Stability.Tokens;

namespace QuickSilver.Multicast.Stability;

// The repair between the seats of one ring (000, section 2, figure 9; 001, section 3). At each visit of the token, a seat compares
// what it lacks with what the seat before holds, and pulls it from there; what a neighbour could not get by itself is pushed to it. The
// token also collects what none of the seats holds. That moves up from ring to ring, and from the root to the sender as a collective NAK.
//
// Above level 0 a seat speaks for its whole ring: only what all members of the ring lack is compared, and its leader alone asks. When a
// packet has come to the leader that all others in the ring lacked, the leader sends it to them.
//
// Invariant: while no token has shown that a member holds a packet, no member asks for it; the rings decide within a round of all levels.
// If tokens do not come, members ask after a while (PeerPullRepair).
internal sealed class RingRepair(RingHierarchy rings, RingSeats seats, int level)
{
    private const int MostLooks = 256;

    /// <summary>
    /// Called when the token comes from the seat before, before this member adds its part; a leader that is alone passes it to itself.
    /// </summary>
    public void Compare(ITrackedStream stream, RecoveryRecord record, NodeKey neighbour)
    {
        var seat = rings.Token.Seat;
        rings.Records.ReportUnheld(level, stream, seat);
        if (neighbour == rings.Context.Self)
        {
            return;
        }

        if (!stream.IsSenderGone && stream.Missing.Count > 0)
        {
            rings.Region.Compare(stream, new RingComparison
            {
                Lacked = level == 0 ? stream.Missing : seat.Gaps,
                Neighbour = rings.Context.Directory.Find(neighbour),
                NeighbourGaps = record.NeighbourGaps,
                NeighbourThrough = record.NeighbourThrough,
                Unheld = record.Unheld,
            });
        }

        if (record.IsPushWanted)
        {
            rings.Shared.Push.Push(stream, record.NeighbourGaps, neighbour);
        }
    }

    /// <summary>Called at the leader when a round is over. Returns what all members under the ring lack.</summary>
    public SequenceRanges End(ITrackedStream stream, RecoveryRecord record)
    {
        var lacked = rings.Token.Seat;
        rings.Records.ReportUnheld(level, stream, lacked);
        if (stream.IsSenderGone || rings.Region.AsksOnlySender(stream))
        {
            // The one member pulls from the sender itself, which takes less time.
            lacked.Clear();
            stream.KeepFrom = long.MaxValue;
            return lacked.Gaps;
        }

        lacked.IntersectWith(record.Unheld);
        lacked.Gaps.RemoveAbove(record.Unheld.KnownThrough);
        SendToAll(stream, record.Unheld);
        stream.KeepFrom = OldestUnheld(stream.Key);
        return lacked.Gaps;
    }

    // The first packet that all members of a ring lacked which this member leads.
    private long OldestUnheld(StreamKey stream)
    {
        long oldest = long.MaxValue;
        foreach (var ring in rings.Rings)
        {
            var unheld = ring.IsLeader ? ring.FindResult(stream)?.Unheld : null;
            if (unheld is { Gaps.IsEmpty: false } && unheld.Gaps[0].First <= unheld.KnownThrough)
            {
                oldest = Math.Min(oldest, unheld.Gaps[0].First);
            }
        }

        return oldest;
    }

    // Sends the ring what its leader holds and all others lack. Not after the first round that shows it: a packet that the sender has just
    // sent to all may have reached the leader before the token reached the others.
    private void SendToAll(ITrackedStream stream, UnheldPackets unheld)
    {
        int looks = MostLooks;
        for (int i = 0; i < unheld.Gaps.Count; i++)
        {
            long last = Math.Min(unheld.Gaps[i].Last, unheld.KnownThrough);
            for (long n = unheld.Gaps[i].First; n <= last && looks-- > 0; n++)
            {
                if (stream.TryOffer(n, rings.Context.Options.PullRepeat, rings.Context.Options.PullRepeatMax))
                {
                    SendToAll(stream, n);
                }
            }
        }
    }

    private void SendToAll(ITrackedStream stream, long number)
    {
        foreach (int rank in seats.Others())
        {
            rings.Shared.Push.PushOne(stream, number, rings.Live[rank]);
        }
    }
}
