using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Stability;

// The members of a ring that were asked whether they live, and how often each has not answered since: at first it is passed over by
// tokens, then reported to the membership service. A probe is as large as a packet of data, and so is its reply: a token may be so too,
// and a path that drops large datagrams only would answer small ones for ever.
internal sealed class RingProbes(RingHierarchy rings)
{
    private const int UntilPassedOver = 2;
    private const int UntilSuspect = 3;

    private readonly Dictionary<NodeKey, int> _misses = [];

    public int Count => _misses.Count;

    public void Clear() => _misses.Clear();

    public void OnReply(NodeKey from) => _misses.Remove(from);

    public void PassOver(Token token)
    {
        foreach (var (member, misses) in _misses)
        {
            if (misses >= UntilPassedOver && token.PassedOver.Count < Token.MaxPassedOver)
            {
                token.PassedOver.Add(rings.Live.RankOf(member));
            }
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
            context.ReportSuspect(member, $"no answer to {misses} probes in {rings.Region.View}");
        }

        _misses[member] = misses + 1;
        byte[] packet = context.FullPacket;
        packet.AsSpan().Clear();
        rings.Template.Write(packet, PacketKind.Probe, flags, 0, 0, 0);
        PacketTemplate.Seal(packet);
        context.SendControl(packet, address);
    }
}
