using QuickSilver.Tool.Catalog;
using QuickSilver.Tool.Groups;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Doctor.Facts;

// Asks the service for the groups that are open.
internal static class GroupsReader
{
    /// <summary>Null if it gave no answer.</summary>
    public static async Task<IReadOnlyList<GroupListing>?> ReadAsync(Session session)
    {
        try
        {
            var topics = await TopicCatalog.ReadAllAsync(session, session.IsVerbose);
            return [.. topics.Where(GroupListing.IsGroup).Select(GroupListing.Of)];
        }
        catch (ToolException)
        {
            return null;
        }
    }
}
