using System.Collections.Immutable;
using QuickSilver.Membership.Views;

namespace QuickSilver.Groups.Questions;

// A question of this node that waits for answers. Core thread only.
internal interface IAskedQuestion
{
    /// <summary>The number; 0 before it has one.</summary>
    long Id { get; }

    /// <summary>The question has its number: it can be sent.</summary>
    void Begin(long id);

    /// <summary>The group has delivered the question in a view of these members.</summary>
    void OnDelivered(ImmutableArray<NodeKey> members);

    /// <summary>A member has answered, or declines. What it answers is not trusted.</summary>
    void OnReply(NodeKey member, in ReplyHead head, ReadOnlySpan<byte> value);

    /// <summary>Members have left the group. If this node is among them, it does not learn what the others have answered.</summary>
    void OnLeft(ImmutableArray<NodeKey> left, bool isSelfAmong);

    /// <summary>The question cannot be asked, or no answer comes any more.</summary>
    void Fail(Exception reason);
}
