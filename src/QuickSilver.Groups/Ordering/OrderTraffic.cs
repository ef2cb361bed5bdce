using QuickSilver.Membership.Views;

namespace QuickSilver.Groups.Ordering;

// Finds at the orderer the member that sends all that is ordered. The order moves to it, so that its messages wait for no other member
// (Isis, TR 94-1432, footnote 4). A round is what is ordered in one message. One with messages of several members, or with some of the
// orderer's own before it, begins the count again.
internal sealed class OrderTraffic(int? roundsToMove)
{
    /// <summary>The rounds after which the order moves: few, since a move takes no longer than a message.</summary>
    public const int Rounds = 16;

    private NodeKey _candidate;
    private int _rounds;

    /// <summary>The member that the order moves to; null: none.</summary>
    public NodeKey? Successor => _rounds >= roundsToMove ? _candidate : null;

    /// <summary>Messages of one member, or of several, were ordered.</summary>
    public void OnOrdered(NodeKey? only)
    {
        _rounds = only is null ? 0 : only == _candidate ? _rounds + 1 : 1;
        _candidate = only ?? default;
    }

    /// <summary>The orderer has sent messages of its own that are in the order.</summary>
    public void OnOwn() => _rounds = 0;
}
