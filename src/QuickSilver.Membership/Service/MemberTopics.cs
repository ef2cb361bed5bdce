using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service;

// Opens and closes topics for members: the contract first, then the region map.
internal sealed class MemberTopics(RegionMap map, SessionContext context)
{
    private readonly ContractRegistry _contracts = new();

    public int ContractCount => _contracts.Count;

    /// <summary>Tells an observer which topics are open.</summary>
    public void List(ControlSession session, ListTopicsMessage request) =>
        new Watching.TopicLister(map, _contracts, context.Limits).Answer(session, request);

    /// <summary>True when it was granted. A topic that the node does not hold a view of is opened afresh.</summary>
    public bool Set(Member member, SetTopicMessage request, bool isRegistration)
    {
        context.Counters.TopicRequests++;
        member.LastRequest = Math.Max(member.LastRequest, request.RequestId);
        var topic = request.Topic;
        bool opensAfresh = isRegistration && !request.Held;
        bool replaces = opensAfresh && map.IsOpen(member.Key, topic.TopicId);
        string? refusal = Refuse(member, topic) ?? _contracts.Check(member.Key, topic, replaces) ?? RefuseContract(member, request);
        if (refusal is not null)
        {
            context.Counters.TopicsRefused++;
            context.Logger.TopicRefused(topic.Name, member.Key, refusal);
            member.Session?.Send(new TopicOutcomeMessage(request.RequestId, refusal));
            return false;
        }

        Grant(member, topic, opensAfresh, request.MemberSince);
        member.Session?.Send(new TopicOutcomeMessage(request.RequestId, ""));
        return true;
    }

    public void Close(Member member, ulong topicId)
    {
        if (map.IsOpen(member.Key, topicId))
        {
            map.SetRole(member.Key, topicId, TopicRole.None);
            _contracts.Remove(member.Key, topicId);
        }
    }

    /// <summary>Closes what a member that came back did not name: it closed that while it was away.</summary>
    public void CloseUnnamed(Member member, List<SetTopicMessage> named)
    {
        var kept = new HashSet<ulong>(named.Count);
        foreach (var request in named)
        {
            kept.Add(request.Topic.TopicId);
        }

        ulong[] gone = [.. map.TopicsOf(member.Key).Where(topicId => !kept.Contains(topicId)).Order()];
        foreach (ulong topicId in gone)
        {
            Close(member, topicId);
        }
    }

    /// <summary>The member is gone; the region map is about to forget it.</summary>
    public void Release(Member member)
    {
        foreach (ulong topicId in map.TopicsOf(member.Key))
        {
            _contracts.Remove(member.Key, topicId);
        }
    }

    private void Grant(Member member, TopicRequest topic, bool opensAfresh, long memberSince)
    {
        if (!map.IsOpen(member.Key, topic.TopicId))
        {
            _contracts.Add(member.Key, topic);
        }
        else
        {
            _contracts.Update(member.Key, topic);
            if (opensAfresh)
            {
                map.SetRole(member.Key, topic.TopicId, TopicRole.None);
            }
        }

        map.SetRole(member.Key, topic.TopicId, topic.Role, topic.Contract.IsPinned, memberSince);
    }

    private string? Refuse(Member member, TopicRequest topic)
    {
        if (string.IsNullOrEmpty(topic.Name))
        {
            return "The topic has no name.";
        }

        if (TopicId.Of(topic.Name) != topic.TopicId)
        {
            return $"Topic '{topic.Name}' was requested with a number that does not match its name.";
        }

        if (topic.Contract.Kind == ContractDescription.AnyKind && topic.Role != TopicRole.Subscribe)
        {
            return $"Topic '{topic.Name}': an endpoint without a type can only subscribe.";
        }

        int open = map.TopicCountOf(member.Key);
        return open >= context.Limits.MaxTopics && !map.IsOpen(member.Key, topic.TopicId)
            ? $"Topic '{topic.Name}': this node already has {open} open topics, which is the limit."
            : null;
    }

    private string? RefuseContract(Member member, SetTopicMessage request)
    {
        long most = context.Limits.MaxContractBytes;
        return member.Contracts.TryName(request.Topic.Contract, request.Bytes, most)
            ? null
            : $"Topic '{request.Topic.Name}': this node already registered {most:N0} bytes of different contracts, which is the limit.";
    }
}
