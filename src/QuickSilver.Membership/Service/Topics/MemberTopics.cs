using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Service.Access;
using QuickSilver.Membership.Service.Quotas;
using QuickSilver.Membership.Service.Sessions;
using QuickSilver.Membership.Service.Watching;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service.Topics;

// Opens and closes topics for members: the contract first, then the region map.
internal sealed class MemberTopics
{
    private readonly RegionMap _map;
    private readonly SessionContext _context;
    private readonly ContractRegistry _contracts = new();
    private readonly ContractHolders _holders;
    private readonly TopicQuotas _places;

    /// <param name="map">The topics and the regions.</param>
    /// <param name="context">The service's.</param>
    /// <param name="members">The members.</param>
    /// <param name="access">The rules of access to topics; null: every node may do everything.</param>
    public MemberTopics(
        RegionMap map, SessionContext context, MemberTable members, ITopicAccess? access = null)
    {
        Rights = access is null ? null : new TopicRights(access, map);
        _map = map;
        _context = context;
        _holders = new ContractHolders(map, _contracts, members);
        _places = new TopicQuotas(context.Limits);
        Followers = new TopicFollowers(map, _contracts, context);
    }

    /// <summary>Null where every node may do everything.</summary>
    public TopicRights? Rights { get; }

    /// <summary>The members that want to know which topics are published.</summary>
    public TopicFollowers Followers { get; }

    public int ContractCount => _contracts.Count;

    /// <summary>Lists the open topics for an observer.</summary>
    public void List(ControlSession session, ListTopicsMessage request) =>
        new TopicLister(_map, _contracts, _holders, _context.Limits).Answer(session, request);

    /// <summary>True when it was granted. A topic that the node does not hold a view of is closed first and opened again.</summary>
    public bool Set(Member member, SetTopicMessage request, bool isRegistration)
    {
        _context.Counters.TopicRequests++;
        member.LastRequest = Math.Max(member.LastRequest, request.RequestId);
        var topic = request.Topic;
        bool opensAfresh = isRegistration && !request.Held;
        // What is sent to one node alone is not for others, whatever the rules of access are.
        bool isOfAnother = topic.Role.HasFlag(TopicRole.Subscribe) && InboxName.IsInbox(topic.Name)
            && !InboxName.IsInboxOf(topic.Name, member.Key.ToString());
        if (isOfAnother)
        {
            Deny(member, request, "subscribe to", InboxName.Rule);
            return false;
        }

        if (Rights?.Lacking(member.Identity, topic) is { } right)
        {
            Deny(member, request, right, Rights.Source);
            return false;
        }

        bool replaces = opensAfresh && _map.IsOpen(member.Key, topic.TopicId);
        string? refusal = Refuse(member, topic) ?? CheckContract(member, topic, replaces) ?? RefuseContract(member, ref request);
        if (refusal is not null)
        {
            _context.Counters.TopicsRefused++;
            _context.Logger.TopicRefused(topic.Name, member.Named, refusal);
            member.Session?.Send(new TopicOutcomeMessage(request.RequestId, refusal));
            return false;
        }

        Grant(member, request, opensAfresh);
        member.Session?.Send(new TopicOutcomeMessage(request.RequestId, ""));
        return true;
    }

    public void Close(Member member, ulong topicId)
    {
        if (_map.IsOpen(member.Key, topicId))
        {
            _map.SetRole(member.Key, topicId, TopicRole.None);
            _places.Take(member, topics: -1, contractBytes: 0);
            _contracts.Remove(member.Key, topicId);
            Followers.Touch(topicId);
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

        ulong[] gone = [.. _map.TopicsOf(member.Key).Where(topicId => !kept.Contains(topicId)).Order()];
        foreach (ulong topicId in gone)
        {
            Close(member, topicId);
        }
    }

    /// <summary>The member is gone; the region map is about to forget it.</summary>
    public void Release(Member member)
    {
        foreach (ulong topicId in _map.TopicsOf(member.Key))
        {
            _contracts.Remove(member.Key, topicId);
            Followers.Touch(topicId);
        }

        _places.Release(member.Key);
        Rights?.OnGone(member.Identity);
    }

    private void Deny(Member member, SetTopicMessage request, string right, string source)
    {
        string identity = member.Identity ?? "";
        _context.Counters.RightsDenied++;
        _context.Counters.TopicsRefused++;
        if (RepeatedEvent.IsLogged(_context.Counters.RightsDenied))
        {
            _context.Audit.RightDenied(identity, member.Named, right, request.Topic.Name, source);
        }

        string who = member.Identity is null && Rights is null ? $"The node {member.Named}" : $"'{identity}'";
        string refusal = $"{who} may not {right} the topic '{request.Topic.Name}', by {source}.";
        member.Session?.Send(new TopicOutcomeMessage(request.RequestId, refusal) { DeniedTo = identity });
    }

    private void Grant(Member member, SetTopicMessage request, bool opensAfresh)
    {
        var topic = request.Topic;
        if (!_map.IsOpen(member.Key, topic.TopicId))
        {
            _contracts.Add(member.Key, topic);
            _places.Take(member, topics: 1, contractBytes: 0);
        }
        else
        {
            _contracts.Update(member.Key, topic);
            if (opensAfresh)
            {
                _map.SetRole(member.Key, topic.TopicId, TopicRole.None);
            }
        }

        bool isPinned = topic.Contract.IsPinned;
        _map.SetRole(member.Key, topic.TopicId, topic.Role, isPinned, request.MemberSince, request.Held && request.Routed);
        Rights?.OnOpen(topic);
        Followers.Touch(topic.TopicId);
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

        if (topic.Contract.Parameters.IsAny && topic.Role != TopicRole.Publish)
        {
            return $"Topic '{topic.Name}': an endpoint that agrees with all parameters can only publish.";
        }

        if (InboxName.Problem(topic.Name, topic.Contract) is { } problem)
        {
            return problem;
        }

        if (_map.IsOpen(member.Key, topic.TopicId))
        {
            return null;
        }

        int open = _map.TopicCountOf(member.Key);
        return open >= _context.Limits.MaxTopics
            ? $"Topic '{topic.Name}': this node already has {open} open topics, which is the limit."
            : _places.FullForTopic(member) is { } full ? $"Topic '{topic.Name}': {full}."
            : null;
    }

    private string? CheckContract(Member member, TopicRequest topic, bool replaces)
    {
        string? difference = _contracts.Check(member.Key, topic, replaces, out var other);
        return difference is not null && other is not null
            ? difference + _holders.Name(topic.TopicId, other, member.Key)
            : difference;
    }

    // What only tools show is left out where there is no room for it.
    private string? RefuseContract(Member member, ref SetTopicMessage request)
    {
        var contract = request.Topic.Contract;
        if (member.Contracts.Has(contract) || Full(member, request) is not { } full)
        {
            Name(member, request);
            return null;
        }

        var plain = ContractDisplay.Without(contract);
        if (ReferenceEquals(plain, contract))
        {
            return full;
        }

        // In a registration, a request may refer to the contract of another one and be short.
        int bytes = ContractFields.BytesOf(plain);
        bytes = Math.Max(request.Bytes - (ContractFields.BytesOf(contract) - bytes), bytes);
        var less = request with { Topic = request.Topic with { Contract = plain }, Bytes = bytes };
        if (!member.Contracts.Has(plain) && Full(member, less) is not null)
        {
            return full;
        }

        request = less;
        Name(member, request);
        return null;
    }

    private string? Full(Member member, SetTopicMessage request)
    {
        long most = _context.Limits.MaxContractBytes;
        if (!member.Contracts.HasRoomFor(request.Bytes, most))
        {
            return $"Topic '{request.Topic.Name}': this node already registered {most:N0} bytes of different contracts, which is the "
                + "limit.";
        }

        return _places.FullForContract(member, request.Bytes) is { } full ? $"Topic '{request.Topic.Name}': {full}." : null;
    }

    private void Name(Member member, SetTopicMessage request)
    {
        if (!member.Contracts.Has(request.Topic.Contract))
        {
            member.Contracts.Add(request.Topic.Contract, request.Bytes);
            _places.Take(member, topics: 0, request.Bytes);
        }
    }
}
