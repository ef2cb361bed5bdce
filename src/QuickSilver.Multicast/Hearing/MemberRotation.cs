using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Hearing;

// Lets a sender address its members by unicast when it gets no answers, or expects none. It addresses some members at a time, in turn, so
// the traffic is small in any view. The first member in order leads the view's rings, so all members learn what that one knows.
internal sealed class MemberRotation(NodeContext context, RegionView view)
{
    private int _next;

    /// <summary>Sends the packet to the next members.</summary>
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

    /// <summary>Notifies the next members that data was sent to the group. A member that has not heard it reports that.</summary>
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
