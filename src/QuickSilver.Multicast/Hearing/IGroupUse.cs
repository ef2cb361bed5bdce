using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Hearing;

// Knows to which groups packets are sent.
internal interface IGroupUse
{
    /// <summary>
    /// Whether the senders of a view use its group, if it has one and they use groups. Otherwise its members expect unicast packets. All
    /// nodes of a cluster have the same answer.
    /// </summary>
    bool MayUseGroup(RegionView view);
}
