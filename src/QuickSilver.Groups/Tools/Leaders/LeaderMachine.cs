using System.Buffers;
using QuickSilver.Groups.Tools.Replicas;

namespace QuickSilver.Groups.Tools.Leaders;

// The leader of a group: its oldest member. A term is the number of the view in which the leader became that, so it rises as views do,
// also if all members have left and others begin.
internal sealed class LeaderMachine : Machine
{
    public NodeId Leader { get; private set; }

    /// <summary>The term of the leader; 0 before the first view.</summary>
    public long Term { get; private set; }

    protected override void OnMembers(IReadOnlyList<NodeId> members, HashSet<NodeId> gone, List<Answer> answers)
    {
        // The present leader may have gone and come back as the only member.
        if (Term == 0 || members[0] != Leader || gone.Contains(Leader))
        {
            Leader = members[0];
            Term = View;
        }
    }

    protected override void OnForgotten(NodeId node, long through, List<Answer> answers)
    {
    }

    protected override bool TryApply(NodeId sender, in Operation operation, List<Answer> answers) => false;

    protected override void WriteContent(IBufferWriter<byte> to)
    {
        to.Write(Leader);
        to.Write(Term);
    }

    protected override bool TryReadContent(ref FieldReader from)
    {
        Leader = from.ReadNode();
        Term = from.ReadNumber();
        return IsMember(Leader) && Term <= View;
    }
}
