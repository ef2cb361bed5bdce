using System.Buffers;

namespace QuickSilver.Groups.Tools.Replicas;

// The state machine of a tool, the same at all members of its group: they apply the same views and operations in the same order.
//
// Intuition: the only input is the order of the group. There is no clock, no random number and no codec of the application in it, because
// each may differ from member to member. What it does depends on the bytes of the operations alone. So malformed operations are ignored
// by all members alike, and none of them can end a member.
//
// What goes wrong: a member that was removed and comes back has lost the callers of its operations, and some of them may still be on their
// way. Their tickets would be held forever. So such a member says up to which number it has forgotten its operations (its floor), and
// those that come later are ignored.
//
// Invariant: whatever the state holds for a node, the node is a member of the last view.
internal abstract class Machine
{
    private const byte Version = 1;
    private const int MemberBytes = SpanWriter.NodeBytes + sizeof(long);

    // The members by age, each with its floor. None is ever removed, so that all members write them in one order.
    private Dictionary<NodeId, long> _floors = [];

    /// <summary>The number of the last view.</summary>
    public long View { get; private set; }

    /// <summary>The number of messages that are no operations. They were ignored.</summary>
    public long Ignored { get; private set; }

    /// <summary>Whether the group must not continue here after messages that this member cannot get.</summary>
    public virtual bool EndsOnGap => false;

    /// <summary>The members of the last view, by age.</summary>
    protected IReadOnlyList<NodeId> Members => [.. _floors.Keys];

    public bool IsMember(NodeId node) => _floors.ContainsKey(node);

    public void OnView(GroupView view, List<Answer> answers)
    {
        View = view.Number;
        var gone = new HashSet<NodeId>();
        foreach (var node in _floors.Keys)
        {
            if (view.RankOf(node) < 0 || view.Joined.Contains(node))
            {
                gone.Add(node);
            }
        }

        var floors = new Dictionary<NodeId, long>(view.Members.Count);
        foreach (var node in view.Members)
        {
            floors.Add(node, gone.Contains(node) ? 0 : _floors.GetValueOrDefault(node));
        }

        _floors = floors;
        OnMembers(view.Members, gone, answers);
    }

    public void Apply(NodeId sender, ReadOnlySpan<byte> message, List<Answer> answers)
    {
        if (!Operation.TryRead(message, out var operation) || !_floors.TryGetValue(sender, out long floor))
        {
            Ignored++;
        }
        else if (operation.Number > floor)
        {
            if (operation.Kind == Operation.Forget)
            {
                _floors[sender] = operation.Number;
                OnForgotten(sender, operation.Number, answers);
            }
            else if (!TryApply(sender, operation, answers))
            {
                Ignored++;
            }
        }
    }

    public void Write(IBufferWriter<byte> to)
    {
        to.Write([Version]);
        to.Write(View);
        to.Write(_floors.Count);
        foreach (var (node, floor) in _floors)
        {
            to.Write(node);
            to.Write(floor);
        }

        WriteContent(to);
    }

    /// <summary>Replaces all by what another member has written. False: it is malformed, and the state is void.</summary>
    public bool TryRead(ReadOnlySpan<byte> state)
    {
        var reader = new FieldReader(state);
        if (reader.ReadByte() != Version)
        {
            return false;
        }

        View = reader.ReadNumber();
        _floors = [];
        for (int left = reader.ReadCount(MemberBytes); left > 0; left--)
        {
            if (!_floors.TryAdd(reader.ReadNode(), reader.ReadNumber()))
            {
                return false;
            }
        }

        return TryReadContent(ref reader) && reader.IsComplete;
    }

    /// <summary>The view has these members. Those that are gone are no members, or begin again.</summary>
    protected abstract void OnMembers(IReadOnlyList<NodeId> members, HashSet<NodeId> gone, List<Answer> answers);

    /// <summary>The operations of a member up to a number have no caller any more.</summary>
    protected abstract void OnForgotten(NodeId node, long through, List<Answer> answers);

    /// <summary>Applies an operation of a member. False: it is malformed, and nothing has changed.</summary>
    protected abstract bool TryApply(NodeId sender, in Operation operation, List<Answer> answers);

    protected abstract void WriteContent(IBufferWriter<byte> to);

    protected abstract bool TryReadContent(ref FieldReader from);
}
