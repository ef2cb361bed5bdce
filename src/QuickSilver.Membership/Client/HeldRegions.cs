using System.Collections.Immutable;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Client;

// The latest views of which this node is a member. When the node registers with a service that did not make them, it reports each view with
// the first topic in it. The service continues the views that all their members hold alike. The node also reports the lives that are over.
internal sealed class HeldRegions(NodeKey self)
{
    // Null while there are none.
    private Dictionary<ulong, RegionView>? _views;
    private HashSet<ulong>? _reported;

    /// <summary>The lives that are over, as this node was notified.</summary>
    public ImmutableArray<EndedLife> Ended { get; private set; } = [];

    public void Apply(bool isSnapshot, ConfigurationContent content)
    {
        if (isSnapshot)
        {
            _views = null;
        }

        Ended = content.EndedAfter(isSnapshot, Ended);
        foreach (var view in content.Regions)
        {
            if (view.Members.AsSpan().BinarySearch(self) >= 0)
            {
                (_views ??= [])[view.RegionId] = view;
            }
            else
            {
                _views?.Remove(view.RegionId);
            }
        }

        foreach (ulong region in content.OutOfSight)
        {
            _views?.Remove(region);
        }
    }

    /// <summary>A registration begins.</summary>
    public void BeginReport() => _reported = null;

    /// <summary>Adds to a registration by which of its regions this node gets the topic, and once for each region the view.</summary>
    public SetTopicMessage Report(SetTopicMessage topic, ImmutableArray<ulong> regions)
    {
        if (_views is null || regions.IsDefault)
        {
            return topic;
        }

        foreach (ulong region in regions)
        {
            if (_views.TryGetValue(region, out var view))
            {
                return topic with { Region = region, View = (_reported ??= []).Add(region) ? HeldView.Of(view) : null };
            }
        }

        return topic;
    }
}
