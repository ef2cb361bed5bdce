using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Views;

// A number that identifies the set of members that have left a view, so that two nodes can compare their sets. It combines the members'
// marks by exclusive or, so it does not depend on the order in which they left.
internal static class GoneMark
{
    public static ulong Of(NodeKey node)
    {
        ulong mixed = (node.Id + node.Incarnation) * 0x9E37_79B9_7F4A_7C15;
        return mixed ^ (mixed >> 29);
    }
}
