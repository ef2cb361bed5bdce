using QuickSilver.Membership.Views;

namespace QuickSilver.Receipts.Protocol;

// What the members of a topic have confirmed of this node's messages. By calls, without input or output.
internal sealed class ConfirmedMessages
{
    private readonly SortedDictionary<NodeKey, long> _through = [];

    /// <summary>The number of the last message that was sent.</summary>
    public long Sent { get; private set; }

    /// <summary>A number that grows with each receipt.</summary>
    public long Progress { get; private set; }

    public void OnSent(long number) => Sent = Math.Max(Sent, number);

    /// <summary>A receipt came. False: it is not newer than what is known, or cannot be true.</summary>
    public bool TryConfirm(NodeKey member, long through)
    {
        if (through > Sent || !_through.TryGetValue(member, out long known) || through <= known)
        {
            return false;
        }

        _through[member] = through;
        Progress++;
        return true;
    }

    /// <summary>The members that have not confirmed all, in ascending order.</summary>
    public List<NodeKey> Lacking()
    {
        var lacking = new List<NodeKey>();
        foreach (var (member, through) in _through)
        {
            if (through < Sent)
            {
                lacking.Add(member);
            }
        }

        return lacking;
    }

    /// <summary>These are the members from now on. A new one is to confirm what is sent from now on.</summary>
    public void SetMembers(ReadOnlySpan<NodeKey> members)
    {
        var gone = new HashSet<NodeKey>(_through.Keys);
        foreach (var member in members)
        {
            gone.Remove(member);
            _through.TryAdd(member, Sent);
        }

        foreach (var member in gone)
        {
            _through.Remove(member);
        }
    }
}
