using System.Buffers;
using QuickSilver.Groups.Tools.Replicas;

namespace QuickSilver.Groups.Tools.Barriers;

// The arrivals at a barrier. The first of a round says how many it needs.
internal sealed class BarrierMachine : Machine
{
    public const byte Arrive = 1;
    public const byte Withdraw = 2;

    // Answers that are no number of a round.
    public const long IsOfOtherParties = 0;
    public const long HasArrived = -1;

    public const int MostParties = 10_000;

    private readonly TicketLine _arrivals = new();
    // What the arrivals wait for, while there are any.
    private int _parties;

    /// <summary>The number of rounds that are complete.</summary>
    public long Round { get; private set; }

    public int Arrived => _arrivals.Count;

    public static byte[] ArriveOf(int parties)
    {
        byte[] message = Operation.Create(Arrive, sizeof(int));
        var body = Operation.BodyOf(message);
        body.Write(parties);
        return message;
    }

    public static byte[] WithdrawOf(long number)
    {
        byte[] message = Operation.Create(Withdraw, sizeof(long));
        var body = Operation.BodyOf(message);
        body.Write(number);
        return message;
    }

    protected override void OnMembers(IReadOnlyList<NodeId> members, HashSet<NodeId> gone, List<Answer> answers) =>
        _arrivals.RemoveOf(gone);

    protected override void OnForgotten(NodeId node, long through, List<Answer> answers) => _arrivals.RemoveThrough(node, through);

    protected override bool TryApply(NodeId sender, in Operation operation, List<Answer> answers)
    {
        var reader = new FieldReader(operation.Body);
        switch (operation.Kind)
        {
            case Arrive:
                int parties = reader.ReadInt32();
                if (!reader.IsComplete || parties is < 1 or > MostParties)
                {
                    return false;
                }

                OnArrival(sender, operation.Number, parties, answers);
                return true;
            case Withdraw:
                long number = reader.ReadNumber();
                if (!reader.IsComplete)
                {
                    return false;
                }

                _arrivals.Remove(sender, number);
                return true;
            default:
                return false;
        }
    }

    protected override void WriteContent(IBufferWriter<byte> to)
    {
        to.Write(Round);
        to.Write(_parties);
        _arrivals.Write(to);
    }

    protected override bool TryReadContent(ref FieldReader from)
    {
        Round = from.ReadNumber();
        _parties = from.ReadInt32();
        return _arrivals.TryRead(ref from, IsMember) && (_arrivals.Count == 0 || _arrivals.Count < _parties);
    }

    private void OnArrival(NodeId node, long number, int parties, List<Answer> answers)
    {
        if (_arrivals.Count == 0)
        {
            _parties = parties;
        }

        if (_arrivals.Contains(node))
        {
            answers.Add(new Answer(node, number, HasArrived));
        }
        else if (_parties != parties)
        {
            answers.Add(new Answer(node, number, IsOfOtherParties, _parties));
        }
        else
        {
            _arrivals.Add(node, number);
            CompleteIfAll(answers);
        }
    }

    private void CompleteIfAll(List<Answer> answers)
    {
        if (_arrivals.Count < _parties)
        {
            return;
        }

        Round++;
        for (int i = 0; i < _arrivals.Count; i++)
        {
            answers.Add(new Answer(_arrivals[i].Node, _arrivals[i].Number, Round));
        }

        _arrivals.Clear();
    }
}
