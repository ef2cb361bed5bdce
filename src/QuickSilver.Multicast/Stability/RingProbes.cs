using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Stability.Rounds;
using QuickSilver.Multicast.Stability.Tokens;

namespace QuickSilver.Multicast.Stability;

// The members of a ring that were probed, and how many probes each has not answered since. At first, tokens skip such a member; then it is
// reported to the membership service. A probe and its reply are as large as a data packet, because a token may be that large too: a path
// that drops only large datagrams would otherwise always deliver the probes.
internal sealed class RingProbes(RingHierarchy rings, RingSeats seats, RoundTimer clock)
{
    private const int UntilSkipped = 2;
    private const int UntilSuspect = 3;

    private readonly Dictionary<NodeKey, int> _misses = [];

    public int Count => _misses.Count;

    public void Clear() => _misses.Clear();

    public void OnReply(NodeKey from) => _misses.Remove(from);

    /// <summary>Lets the token skip the members that do not answer. Returns false if there are none.</summary>
    public bool TrySkip(Token token)
    {
        foreach (var (member, misses) in _misses)
        {
            if (misses >= UntilSkipped && token.Skipped.Count < Token.MaxSkipped)
            {
                token.Skipped.Add(rings.Live.RankOf(member));
            }
        }

        return token.Skipped.Count > 0;
    }

    /// <summary>Probes all members of the ring. Each checks the member that sends it the token.</summary>
    public void SendToAll()
    {
        clock.ProbedAt = rings.Context.Environment.Now;
        foreach (int rank in seats.Others())
        {
            Send(rings.Live[rank], PacketFlags.AckWanted);
        }
    }

    /// <summary>The leader of a ring misses its token and hears this member: the token may be lost before it reaches this member.</summary>
    public void OnTokenMissed(NodeKey leader)
    {
        int rank = rings.Live.RankOf(leader);
        var now = rings.Context.Environment.Now;
        if (seats.Leader == rings.SelfRank || rank != seats.Leader || now - clock.ProbedAt < rings.Context.Options.TokenTimeout)
        {
            return;
        }

        clock.ProbedAt = now;
        int before = seats.Predecessor();
        if (before != rank && before != rings.SelfRank)
        {
            Send(rings.Live[before], PacketFlags.None);
        }
    }

    public void Send(NodeKey member, PacketFlags flags)
    {
        var context = rings.Context;
        if (context.Directory.Find(member) is not { } address)
        {
            return;
        }

        int misses = _misses.GetValueOrDefault(member);
        if (misses >= UntilSuspect)
        {
            rings.Shared.Suspicions.Report(member, $"no answer to {misses} probes in {rings.Region.View}");
        }

        if (misses > 0)
        {
            rings.Shared.Paths.Sizes.Suspect(address);
        }

        _misses[member] = misses + 1;
        var packet = context.Scratch.FullPacket.AsSpan(0, rings.Shared.Paths.Sizes.To(address));
        packet.Clear();
        rings.Template.Write(packet, PacketKind.Probe, flags, 0, 0, 0);
        PacketTemplate.Seal(packet);
        context.SendControl(packet, address);
    }
}
