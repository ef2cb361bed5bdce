using System.Collections.Immutable;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Channels;

// The members of a pinned topic as one subscription has seen them last, the oldest first, each with the configuration since which it is a
// member. So a member that left and came back in between is another one.
internal sealed class MembersByAge
{
    private ImmutableArray<(NodeKey Key, long Since)> _members = [];

    /// <summary>The next view: its members, and the differences from the view before.</summary>
    public MemberView Pass(ulong topicId, RegionView view)
    {
        var before = _members;
        // The sort is stable: members are in the order of their keys, and those that joined together stay in this order.
        _members =
        [
            .. view.Members.Select((member, place) => (member, view.Since.IsEmpty ? 0 : view.Since[place]))
                .OrderBy(static member => member.Item2),
        ];
        return new MemberView
        {
            TopicId = topicId,
            Configuration = view.Configuration,
            Members = [.. _members.Select(static member => member.Key)],
            Joined = [.. _members.Except(before).Select(static member => member.Key)],
            Left = [.. before.Except(_members).Select(static member => member.Key)],
        };
    }
}
