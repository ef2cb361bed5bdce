using System.Collections.Immutable;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Dispatch;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Sealing;

namespace QuickSilver.Multicast;

// Applies configurations: directory, regions and their views, topics.
//
// Invariants: all topics of a node move from old views to new ones within one call of Apply, so the messages of a topic go through exactly
// one view of each region per configuration. A superseded view of which this node is a member stays open until the service reports that all
// nodes have confirmed and this node has consumed all its packets.
internal sealed class ConfigurationApplier(
    MulticastContext context, AppliedConfiguration applied, TopicStreams topics, SettlementReport report, OpenViews open)
{
    public required PacketWays Ways { get; init; }

    public required PacketDispatcher Dispatcher { get; init; }

    /// <summary>Null: packets are not sealed.</summary>
    public KeyRing? Keys { get; init; }

    public void Apply(ConfigurationChange change, IMembershipObserver? observer)
    {
        // First of all, so that a node that is removed reads nothing that is sent from here on.
        Keys?.OnConfiguration(change);
        // Messages accepted before the change are sent in the views before it.
        context.FlushSockets();
        // Removed nodes are removed from the old views before the new ones are opened, which may contain them again.
        foreach (var lost in context.Directory.Apply(change, context.Self))
        {
            OnNodeGone(lost, change.IsSnapshot ? null : change.Number);
        }

        if (change.IsSnapshot)
        {
            open.OnSnapshot();
        }

        ApplyRegions(change);
        open.OnNodesCame(change.Number);
        if (topics.Router.TopicsIfAny is not null || !change.Topics.IsEmpty)
        {
            topics.Router.Topics.Apply(change);
        }

        // Only after the topics have left the regions.
        foreach (ulong region in change.OutOfSight)
        {
            Keys?.Supersede(region);
            applied.Regions.Remove(region);
        }

        context.Counters.Regions = applied.Regions.Count;
        context.Sending.Deaf.OnConfiguration();

        // The observer is notified of a view before it receives the first message of the view.
        observer?.OnConfiguration(change);
        topics.Router.TopicsIfAny?.OnConfiguration(change);
        Dispatcher.ReplayUnknown();
        report.ConfirmIfSettled();
        topics.PostProgress();
    }

    public void Settle(long configuration, ImmutableArray<OpenView> stillOpen)
    {
        applied.Settled = Math.Max(applied.Settled, configuration);
        topics.Router.TopicsIfAny?.Rest(applied.Settled);
        context.Receiving.TopicPorts?.OnSettled(applied.Settled);
        open.CloseSettled(applied.Settled, stillOpen);
        Keys?.Rest(report.SentIfAny, open);
    }

    public void OnViewsClosed()
    {
        ForgetSenders();
        Keys?.Rest(report.SentIfAny, open);
    }

    /// <summary>A departed node that has no stream left in any view can send nothing more.</summary>
    public void ForgetSenders() => topics.Router.TopicsIfAny?.ForgetSenders(
        sender => !context.Directory.Contains(sender) && !open.HasStreamOf(sender));

    private void ApplyRegions(ConfigurationChange change)
    {
        foreach (ulong region in change.RegionsAbsent(applied.Regions.Keys))
        {
            Supersede(region, change.Number);
            applied.Regions.Remove(region);
        }

        foreach (var view in change.Regions)
        {
            Apply(view, change.Number);
        }
    }

    private void Apply(RegionView view, long configuration)
    {
        if (applied.Regions.TryGetValue(view.RegionId, out var known) && known.Number >= view.Number)
        {
            // A service that took over continues with it.
            open.Find(known.RegionId, known.Number)?.Confirm(configuration);

            // The node may now have a key that it did not know before.
            if (known.Number == view.Number)
            {
                Keys?.Add(view);
            }

            return;
        }

        Supersede(view.RegionId, configuration);
        if (view.Members.IsEmpty)
        {
            applied.Regions.Remove(view.RegionId);
            return;
        }

        applied.Set(view);
        Keys?.Add(view);
        if (view.Members.AsSpan().BinarySearch(context.Self) >= 0)
        {
            open.Open(view, topics.Router);
            if (Keys is not null && !Keys.Has(view))
            {
                context.GiveUp($"it has no key for {view}, although it seals its packets; the membership service may not seal");
            }
        }
    }

    private void Supersede(ulong region, long configuration)
    {
        report.SentIfAny?.Supersede(region, configuration);
        open.Supersede(region, configuration);
    }

    private void OnNodeGone(LostNode lost, long? configuration)
    {
        context.Paths.OnNodeGone(lost);
        topics.Router.TopicsIfAny?.OnNodeGone(lost.Key);
        Ways.OnNodeGone(lost.Key);
        open.OnNodeGone(lost, configuration);
        topics.OnNodeGone(lost.Key);
        report.SentIfAny?.OnNodeGone(lost.Key);
    }
}
