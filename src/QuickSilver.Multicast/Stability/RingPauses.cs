using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Stability.Rounds;

namespace QuickSilver.Multicast.Stability;

// What a ring does, at one of its members, after a pause of this member or of another.
internal sealed class RingPauses(RingHierarchy rings, RingSeats seats, RoundTimer clock, RingProbes probes, Alarm timer, Alarm watch)
{
    private INodeEnvironment Environment => rings.Context.Environment;

    /// <summary>This node stood still for so long. Packets that others sent meanwhile are read before it misses any.</summary>
    public void OnPause(TimeSpan length, bool isInFlight)
    {
        var now = Environment.Now;
        Environment.PutOff(watch, length);
        var wait = clock.OnPause(length, timer.Due - now, now);
        if (isInFlight && timer.IsPending)
        {
            Environment.Schedule(timer, wait > TimeSpan.Zero ? wait : TimeSpan.Zero);
        }
    }

    /// <summary>A node reports that it stood still. It shows that it lives, as by a reply to a probe.</summary>
    public void OnMemberPaused(NodeKey node, bool isInFlight)
    {
        int rank = rings.Live.RankOf(node);
        probes.OnReply(node);
        if (isInFlight && timer.IsPending && rank >= 0 && seats.IsIn(rank) && clock.Excuse())
        {
            var left = timer.Due - Environment.Now;
            Environment.Schedule(timer, left < clock.Timeout ? left : clock.Timeout);
        }
    }

    /// <summary>Adds those that miss this member first: the leader, which waits for the token, and the members beside this one.</summary>
    public void AddNeighbours(List<NodeKey> to)
    {
        Add(seats.Leader);
        Add(seats.Predecessor());
        Add(seats.Successor(null));

        void Add(int rank)
        {
            if (rank >= 0 && rank != rings.SelfRank && !to.Contains(rings.Live[rank]))
            {
                to.Add(rings.Live[rank]);
            }
        }
    }
}
