using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Service.Sessions;
using QuickSilver.Membership.Service.Topics;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service.Watching;

// Lists the open topics for an observer: at once, from what the service knows.
internal sealed class TopicLister(RegionMap map, ContractRegistry contracts, ContractHolders holders, SessionLimits limits)
{
    public void Answer(ControlSession session, ListTopicsMessage request)
    {
        if (request.Name.Length > 0)
        {
            AnswerOne(session, request.Name);
        }
        else
        {
            AnswerPage(session, request.After);
        }

        session.AwaitNextWatch();
    }

    private void AnswerPage(ControlSession session, ulong after)
    {
        var page = contracts.After(after, TopicListMessage.MostTopics + 1);
        int listed = Math.Min(page.Count, TopicListMessage.MostTopics);
        session.Send(new TopicListMessage { Topics = contracts.Count, Listed = listed, HasMore = page.Count > listed });
        foreach (var (id, name) in page.Take(listed))
        {
            // The one with a type and with parameters, if there is any.
            var versions = contracts.VersionsOf(id);
            int shown = Math.Max(0, versions.FindIndex(
                static one => one.Contract.Kind != ContractDescription.AnyKind && !one.Contract.Parameters.IsAny));
            var (contract, nodes) = versions[shown];
            session.Send(EntryOf(id, name, versions.Count) with
            {
                Nodes = nodes,
                Contract = contract with { Fields = [], Nested = [], Enums = [] },
            });
        }
    }

    private void AnswerOne(ControlSession session, string name)
    {
        ulong id = TopicId.Of(name);
        var versions = contracts.VersionsOf(id);
        // An observer that reads must not be closed because contracts are large.
        long room = limits.MaxPendingBytes / 2 / (ContractLimits.MaxBytes + ContractDisplay.MaxBytes);
        int listed = (int)Math.Min(versions.Count, Math.Max(1, room));
        session.Send(new TopicListMessage { Topics = contracts.Count, Listed = listed });
        var byContract = holders.Of(id, ListedTopicMessage.MostHolders);
        foreach (var (contract, nodes) in versions.Take(listed))
        {
            session.Send(EntryOf(id, name, versions.Count) with
            {
                Nodes = nodes,
                Contract = contract,
                Holders = byContract.GetValueOrDefault(contract, []),
            });
        }
    }

    private ListedTopicMessage EntryOf(ulong id, string name, int versions)
    {
        map.Topics.TryGetValue(id, out var topic);
        int publishers = 0;
        foreach (var opener in topic is null ? [] : topic.Openers)
        {
            publishers += opener.Publishes ? 1 : 0;
        }

        return new ListedTopicMessage
        {
            TopicId = id,
            Name = name,
            Publishers = publishers,
            Subscribers = topic?.Subscribers ?? 0,
            Versions = versions,
            Contract = Unknown,
        };
    }

    private static ContractDescription Unknown { get; } = new() { TypeName = "", Kind = "", Guarantee = "" };
}
