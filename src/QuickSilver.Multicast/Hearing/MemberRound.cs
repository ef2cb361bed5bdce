using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Hearing;

// A sender that nobody answers, or that expects no answers, speaks to its members by unicast: to some at a time, one after the other,
// so that the traffic stays small however many there are. The first in order leads the view's rings: what it knows all come to know.
internal sealed class MemberRound(MulticastContext context, RegionView view)
{
    private int _next;

    /// <summary>The same packet to the next members.</summary>
    public void Send(ReadOnlySpan<byte> packet, int most)
    {
        for (int left = Math.Min(most, view.Members.Length); left > 0 && context.MayCheck(); left--)
        {
            if (context.Directory.Find(Next()) is { } address)
            {
                context.SendControl(packet, address);
            }
        }
    }

    /// <summary>Tells the next members that something was sent to the group: who has not heard it says so.</summary>
    public void Check(DeafMembers deaf, int most)
    {
        for (int left = Math.Min(most, view.Members.Length); left > 0 && context.MayCheck(); left--)
        {
            var member = Next();
            if (!deaf.IsServed(view.RegionId, member))
            {
                deaf.Answer(view, member, HearingWord.Unserved);
            }
        }
    }

    private NodeKey Next()
    {
        _next = _next < view.Members.Length ? _next : 0;
        return view.Members[_next++];
    }
}
