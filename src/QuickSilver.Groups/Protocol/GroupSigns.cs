using QuickSilver.Groups.Ordering;
using QuickSilver.Groups.States;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Protocols;

namespace QuickSilver.Groups.Protocol;

// What this node reports of a group to an observer of the cluster. Core thread only.
internal sealed class GroupSigns(IProtocolNode node, string name)
{
    // Requests of other nodes for the state. Those that have ended leave with the next request or report.
    private readonly List<StateRequest> _asked = [];

    /// <summary>Another node asks for the state.</summary>
    public void OnAsked(StateRequest request)
    {
        ForgetEnded();
        _asked.Add(request);
    }

    /// <param name="view">The view whose messages are passed; null before the first.</param>
    /// <param name="waiting">The messages that wait for their order.</param>
    /// <param name="member">The member, if it has a state.</param>
    /// <param name="seeker">What seeks it.</param>
    public ProtocolSnapshot Read(OrderedView? view, int waiting, IStateMember? member, StateSeeker? seeker)
    {
        ForgetEnded();
        var signs = new ProtocolSnapshot(GroupTopics.Factory.Guarantee, name) { Waiting = waiting };
        if (view is not null)
        {
            signs = signs with
            {
                View = view.Configuration,
                Members = view.Members.Length,
                Rank = view.RankOf(node.Self),
                Orderer = NameOf(view.Orderer),
            };
        }

        return member switch
        {
            null => signs,
            { HasState: true } => signs with
            {
                State = StateStanding.Held,
                Takers = string.Join(", ", _asked.Select(request => NameOf(new NodeKey(request.Taker.Id, request.Taker.Incarnation)))),
            },
            _ => signs with { State = StateStanding.Sought, Donor = seeker?.Donor is { } donor ? NameOf(donor) : "" },
        };
    }

    private string NameOf(NodeKey key) => node.Named(key) is { Name: { Length: > 0 } name } ? name : key.ToString();

    private void ForgetEnded() => _asked.RemoveAll(static request => request.IsAbandoned);
}
