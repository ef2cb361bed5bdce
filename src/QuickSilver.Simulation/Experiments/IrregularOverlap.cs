using System.Net;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Regions.Addresses;
using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Membership.Views;

using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Experiments;

// QSM's experiment on irregular overlap (section 3 of the paper, figures 5 and 6): nodes whose interests are all their own,
// and the regions that the membership service's own map makes of them. Nothing is sent, and no time passes.
internal sealed class IrregularOverlap
{
    private const uint FirstIncarnation = 1;

    private readonly ZipfInterests _interests;
    private readonly SeededRandom _dice;
    private readonly RegionMap _map;
    private readonly HashSet<int>[] _wanted;
    private long _configuration = 1L << 32;

    public IrregularOverlap(
        ZipfInterests interests, ulong seed, TopicSetRules? rules = null, TopicAddressRules? topicAddresses = null)
    {
        _interests = interests;
        _dice = new SeededRandom(seed);
        _map = new RegionMap(new AddressPlan("irregular-overlap", IPNetwork.Parse("239.192.0.0/14")), 1, rules,
            topicAddresses: topicAddresses);
        _wanted = Array.ConvertAll(interests.OfNode, ranks => ranks.ToHashSet());
        for (int node = 0; node < _wanted.Length; node++)
        {
            _map.AddNode(KeyOf(node));
        }
    }

    public RegionMap Map => _map;

    /// <summary>These nodes subscribe to all their topics, in one configuration.</summary>
    public void Subscribe(int firstNode, int nodes)
    {
        for (int node = firstNode; node < firstNode + nodes; node++)
        {
            foreach (int rank in _interests.OfNode[node])
            {
                _map.SetRole(KeyOf(node), TopicOf(rank), TopicRole.Subscribe);
            }
        }

        _map.Apply(++_configuration);
    }

    /// <summary>
    /// One node leaves one of its topics, or, if it has as few as it began with, subscribes to one more, in a configuration of
    /// its own. Returns what was sent for that, to all nodes together.
    /// </summary>
    public ReportedByChange ChangeOne()
    {
        int node = _dice.Below(_wanted.Length);
        var wanted = _wanted[node];
        int rank;
        if (wanted.Count > _interests.OfNode[node].Length)
        {
            rank = wanted.ElementAt(_dice.Below(wanted.Count));
            wanted.Remove(rank);
            _map.SetRole(KeyOf(node), TopicOf(rank), TopicRole.None);
        }
        else
        {
            do
            {
                rank = _interests.DrawRank(_dice);
            }
            while (wanted.Count < _interests.Topics && !wanted.Add(rank));
            _map.SetRole(KeyOf(node), TopicOf(rank), TopicRole.Subscribe);
        }

        _map.Apply(++_configuration);
        return CountReported();
    }

    public OverlapFigures Measure() => OverlapFigures.Of(_map, _interests, KeyOf, TopicOf);

    private static NodeKey KeyOf(int node) => new((ulong)node + 1, FirstIncarnation);

    private static ulong TopicOf(int rank) => (ulong)rank + 1;

    /// <summary>The rank of a topic by its popularity.</summary>
    public static int RankOf(ulong topic) => (int)topic - 1;

    private ReportedByChange CountReported()
    {
        var views = new HashSet<(ulong, uint)>();
        long regionViews = 0, topicViews = 0;
        for (int node = 0; node < _wanted.Length; node++)
        {
            var (regions, topics, _) = _map.NewsOf(KeyOf(node));
            regionViews += regions.Count;
            topicViews += topics.Count;
            foreach (var view in regions)
            {
                views.Add((view.RegionId, view.Number));
            }
        }

        return new ReportedByChange(views.Count, regionViews, topicViews);
    }
}

// What one configuration sent: how many region views are new, and how many views of regions and of topics went out.
internal readonly record struct ReportedByChange(int NewRegionViews, long RegionViews, long TopicViews);
