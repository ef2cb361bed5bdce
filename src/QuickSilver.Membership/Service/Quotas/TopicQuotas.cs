using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service.Quotas;

// The topics that members have open, and the bytes of contracts that they have named, by where the members are. Otherwise all sessions
// of a machine or a certificate would multiply what one node may have.
//
// A member that has reconnected from elsewhere is moved there with all that it has when it next asks for a topic, even if that is more than
// there is room for: it then gets no more.
internal sealed class TopicQuotas(SessionLimits limits)
{
    private readonly PeerTotals _topics = new(limits.MaxTopicsPerSource, limits.MaxTopicsPerSource);
    private readonly PeerTotals _contractBytes = new(limits.MaxContractBytesPerSource, limits.MaxContractBytesPerSource);
    // Of members that have any.
    private readonly Dictionary<NodeKey, Share> _members = [];

    private record struct Share(PeerSource Place, long Topics, long ContractBytes);

    /// <summary>Null when the member may open another topic; otherwise the limit, as the rest of a sentence.</summary>
    public string? FullForTopic(Member member) => _topics.FullFor(PlaceOf(member), 1) is { } full
        ? $"the nodes of {full} already have {limits.MaxTopicsPerSource:N0} open topics together, which is the limit"
        : null;

    /// <summary>Null when the member may name another contract; otherwise the limit, as the rest of a sentence.</summary>
    public string? FullForContract(Member member, int bytes) => _contractBytes.FullFor(PlaceOf(member), bytes) is { } full
        ? $"the nodes of {full} already registered {limits.MaxContractBytesPerSource:N0} bytes of different contracts together, which is "
            + "the limit"
        : null;

    public void Take(Member member, int topics, int contractBytes)
    {
        var place = PlaceOf(member);
        ref var share = ref CollectionsMarshal.GetValueRefOrAddDefault(_members, member.Key, out _);
        share = share with { Place = place, Topics = share.Topics + topics, ContractBytes = share.ContractBytes + contractBytes };
        _topics.Take(place, topics);
        _contractBytes.Take(place, contractBytes);
    }

    /// <summary>The member is gone.</summary>
    public void Release(NodeKey member)
    {
        if (_members.Remove(member, out var share))
        {
            _topics.GiveBack(share.Place, share.Topics);
            _contractBytes.GiveBack(share.Place, share.ContractBytes);
        }
    }

    private PeerSource PlaceOf(Member member)
    {
        ref var share = ref CollectionsMarshal.GetValueRefOrNullRef(_members, member.Key);
        bool isKnown = !Unsafe.IsNullRef(ref share);
        if (member.Session is not { } session)
        {
            return isKnown ? share.Place : default;
        }

        var place = PeerSource.Of(session.RemoteEndPoint, session.Peer);
        if (isKnown && share.Place != place)
        {
            _topics.GiveBack(share.Place, share.Topics);
            _contractBytes.GiveBack(share.Place, share.ContractBytes);
            _topics.Take(place, share.Topics);
            _contractBytes.Take(place, share.ContractBytes);
            share = share with { Place = place };
        }

        return place;
    }
}
