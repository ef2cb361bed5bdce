using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Tool.Sessions;
using QuickSilver.Tool.Top;

namespace QuickSilver.Tool.Catalog;

// Asks the membership service which topics are open.
internal static class TopicCatalog
{
    // A node that has joined may be host of a service that others, this observer among them, find only a moment later.
    private const int Attempts = 3;

    /// <summary>All open topics, by name.</summary>
    public static async Task<List<ListedTopicMessage>> ReadAllAsync(Session session, bool isVerbose)
    {
        await using var watch = await ClusterWatch.StartAsync(session, isVerbose, rows: 1);
        var topics = new List<ListedTopicMessage>();
        ulong after = 0;
        bool hasMore = true;
        while (hasMore)
        {
            var page = await watch.AskTopicsAsync("", after, session.Interrupted);
            topics.AddRange(page.Topics);
            hasMore = page.List.HasMore && page.Topics.Count > 0;
            after = hasMore ? page.Topics[^1].TopicId : after;
        }

        topics.Sort(static (a, b) => string.CompareOrdinal(a.Name, b.Name));
        return topics;
    }

    /// <summary>What people call the nodes of the cluster. If no answer comes, nodes have their ids.</summary>
    public static async Task<NodeNames> ReadNamesAsync(Session session)
    {
        try
        {
            await using var watch = await ClusterWatch.StartAsync(session, isVerbose: false, rows: 1);
            return NodeNames.Of(await watch.AskAsync(session.Interrupted));
        }
        catch (ToolException exception) when (exception.ExitCode == ExitCode.Unreachable)
        {
            return new NodeNames();
        }
    }

    /// <summary>The contracts of one topic; none if it is not open.</summary>
    public static async Task<TopicContracts> ReadAsync(Session session, string name)
    {
        for (int attempt = 1; ; attempt++)
        {
            try
            {
                await using var watch = await ClusterWatch.StartAsync(session, isVerbose: false, rows: 1);
                return new TopicContracts(name, (await watch.AskTopicsAsync(name, 0, session.Interrupted)).Topics);
            }
            catch (ToolException exception) when (exception.ExitCode == ExitCode.Unreachable && attempt < Attempts)
            {
                // Tried again: the network may lose much.
            }
        }
    }
}
