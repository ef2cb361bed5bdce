using QuickSilver.Membership.Snapshots;
using QuickSilver.Tool.Sessions;
using QuickSilver.Tool.Top;

namespace QuickSilver.Tool.Dashboard;

// A watch of the cluster as a source of tables.
internal sealed class ClusterSource(ClusterWatch watch, TopView view) : ISignsSource
{
    // Of all nodes together. Each reports its busiest.
    private const int MostRows = 1_000;

    public static async Task<ISignsSource> OpenAsync(Session session, bool isVerbose, CancellationToken cancellationToken)
    {
        var watch = await ClusterWatch.StartAsync(session, isVerbose, NodeSnapshot.MostRows);
        try
        {
            await watch.BeginAsync(GatheringPace.Default.Watched, cancellationToken);
            return new ClusterSource(watch, new TopView(session.Options.Cluster, SortKey.Rate, Filter: null, MostRows));
        }
        catch
        {
            await watch.DisposeAsync();
            throw;
        }
    }

    public async Task<ClusterTables> AskAsync(CancellationToken cancellationToken) =>
        ClusterTables.Of(await watch.AskAsync(cancellationToken), watch.Service, view, DateTimeOffset.UtcNow);

    public ValueTask DisposeAsync() => watch.DisposeAsync();
}
