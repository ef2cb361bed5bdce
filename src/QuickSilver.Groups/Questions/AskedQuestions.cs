using System.Collections.Immutable;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Groups.Questions;

// The questions of this node in one group that wait for answers (Isis, TR 94-1432: a multicast to a group with replies of all members, of a
// majority, or of some). A question is delivered in one view, at this node too. So the members of that view are those that got it, and a
// member that fails ends its part of the question when the next view comes, not after a time. A node that is no member sends its question
// in a view, and the members deliver it in that one. Core thread only.
//
// Invariant: the view is the last one that was passed on to this node's application, or the one in which a node sends that is no member.
internal sealed class AskedQuestions(string group, NodeKey self, IReplyPost post)
{
    public const int MostOpen = 1024;

    private readonly SortedDictionary<long, IAskedQuestion> _open = [];
    private ImmutableArray<NodeKey> _members = [];
    private bool _isClosed;

    public IReplyPost Post => post;

    public bool IsAny => _open.Count > 0;

    /// <summary>Gives a question its number, or fails it.</summary>
    public void Begin(IAskedQuestion question)
    {
        if (_isClosed)
        {
            question.Fail(Closed());
            return;
        }

        if (_open.Count >= MostOpen)
        {
            question.Fail(new TooManyRequestsException(
                group, MostOpen, $"{MostOpen:N0} questions in the group \"{group}\" wait for answers, which is the limit. This one was not "
                + "asked. Wait for answers, or end enumerations of which no answer is needed any more."));
            return;
        }

        post.Open();
        long id = post.NextId();
        _open.Add(id, question);
        question.Begin(id);
    }

    /// <summary>No reply is taken any more. Also of a question that was not begun.</summary>
    public void End(IAskedQuestion question) => _open.Remove(question.Id);

    /// <summary>A question of this node has passed to its application, or was sent by a node that is no member.</summary>
    public void OnDelivered(long id)
    {
        if (_open.TryGetValue(id, out var question))
        {
            question.OnDelivered(_members);
        }
    }

    /// <summary>A view has passed to the application of this node, or a node that is no member sends in it.</summary>
    public void OnView(MemberView view)
    {
        _members = view.Members;
        foreach (var question in _open.Values)
        {
            question.OnLeft(view.Left, view.Left.Contains(self));
        }
    }

    /// <summary>A letter came. False: no question of this node waits for it.</summary>
    public bool TryTake(NodeKey member, in ReplyHead head, ReadOnlySpan<byte> value)
    {
        if (!_open.TryGetValue(head.Id, out var question))
        {
            return false;
        }

        question.OnReply(member, head, value);
        return true;
    }

    public void Close()
    {
        _isClosed = true;
        foreach (var question in _open.Values)
        {
            question.Fail(Closed());
        }

        _open.Clear();
    }

    private ObjectDisposedException Closed() => new(
        null, $"This node left the group \"{group}\" before all members had answered. Open the group again, and ask again.");
}
