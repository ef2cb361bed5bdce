using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Views;

// Which members of a view are gone, as one number that two nodes compare: the marks of all of them combined by exclusive or, so
// the same in whatever order they went.
internal static class GoneMark
{
    public static ulong Of(NodeKey node)
    {
        ulong mixed = (node.Id + node.Incarnation) * 0x9E37_79B9_7F4A_7C15;
        return mixed ^ (mixed >> 29);
    }
}
