using System.Buffers;
using QuickSilver.Groups.Tools.Replicas;

namespace QuickSilver.Groups.Tools.Locks;

// The line in front of a lock. The first in it holds the lock.
//
// Invariant: a ticket that became the first was answered, with a higher fencing number than any before.
internal sealed class LockMachine : Machine
{
    public const byte Acquire = 1;
    public const byte TryAcquire = 2;
    public const byte Release = 3;

    // Answers that are no count of grants.
    public const long IsHeld = 0;
    public const long IsFull = -1;

    public const int MostWaiting = 10_000;

    private readonly TicketLine _line = new();
    // How often the lock was granted, and in which view the last time.
    private long _grants;
    private long _grantView;

    public override bool EndsOnGap => true;

    public NodeId? Holder => _line.Count > 0 ? _line[0].Node : null;

    public int Waiting => Math.Max(0, _line.Count - 1);

    public static byte[] ReleaseOf(long number)
    {
        byte[] message = Operation.Create(Release, sizeof(long));
        var body = Operation.BodyOf(message);
        body.Write(number);
        return message;
    }

    protected override void OnMembers(IReadOnlyList<NodeId> members, HashSet<NodeId> gone, List<Answer> answers)
    {
        var first = First;
        _line.RemoveOf(gone);
        GrantUnless(first, answers);
    }

    protected override void OnForgotten(NodeId node, long through, List<Answer> answers)
    {
        var first = First;
        _line.RemoveThrough(node, through);
        GrantUnless(first, answers);
    }

    protected override bool TryApply(NodeId sender, in Operation operation, List<Answer> answers)
    {
        switch (operation.Kind)
        {
            case Acquire when operation.Body.IsEmpty:
                if (_line.Count > MostWaiting)
                {
                    answers.Add(new Answer(sender, operation.Number, IsFull));
                }
                else
                {
                    Enter(sender, operation.Number, answers);
                }

                return true;
            case TryAcquire when operation.Body.IsEmpty:
                if (_line.Count > 0)
                {
                    answers.Add(new Answer(sender, operation.Number, IsHeld));
                }
                else
                {
                    Enter(sender, operation.Number, answers);
                }

                return true;
            case Release:
                var reader = new FieldReader(operation.Body);
                long number = reader.ReadNumber();
                if (!reader.IsComplete)
                {
                    return false;
                }

                var first = First;
                _line.Remove(sender, number);
                GrantUnless(first, answers);
                return true;
            default:
                return false;
        }
    }

    protected override void WriteContent(IBufferWriter<byte> to)
    {
        to.Write(_grants);
        to.Write(_grantView);
        _line.Write(to);
    }

    protected override bool TryReadContent(ref FieldReader from)
    {
        _grants = from.ReadNumber();
        _grantView = from.ReadNumber();
        return _line.TryRead(ref from, IsMember) && _grantView <= View;
    }

    private Ticket? First => _line.Count > 0 ? _line[0] : null;

    private void Enter(NodeId node, long number, List<Answer> answers)
    {
        var first = First;
        // An id that is in the line already is a mistake of its node, which must not have two holds with one number.
        _line.Remove(node, number);
        _line.Add(node, number);
        GrantUnless(first, answers);
    }

    // Grants the lock to the first, unless it had it before.
    private void GrantUnless(Ticket? before, List<Answer> answers)
    {
        if (First is { } first && first != before)
        {
            _grantView = View;
            answers.Add(new Answer(first.Node, first.Number, ++_grants, _grantView));
        }
    }
}
