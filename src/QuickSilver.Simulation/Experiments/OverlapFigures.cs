using QuickSilver.Core.Wire;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Views;

namespace QuickSilver.Simulation.Experiments;

// What the paper's figures show of an assignment of nodes to regions. A region proper has a multicast group, as every region
// of the paper has; the members of the others are sent to one by one, which is what "sends" counts.
internal sealed record OverlapFigures
{
    // Of the largest packet for an MTU of 1500.
    private static readonly int MostListed = SharedPacket.MostEntries(1472);

    public required int Sets { get; init; }
    public required int Regions { get; init; }
    public required int RegionsWithGroup { get; init; }
    public required double TopicsPerNode { get; init; }
    public required double RegionsPerNode { get; init; }
    public required int MostRegionsOfANode { get; init; }
    public required double GroupsPerNode { get; init; }
    /// <summary>Of the traffic that a node receives, what comes through the two regions that bring it most.</summary>
    public required double ShareOfTwoBusiest { get; init; }
    /// <summary>How many of a node's regions, the busiest first, bring 95 % of the traffic that it receives.</summary>
    public required double RegionsOfMostTraffic { get; init; }
    /// <summary>Of the traffic that a node receives, what comes in regions without a group.</summary>
    public required double ShareSentSingly { get; init; }
    /// <summary>Of the traffic that a node receives, what it subscribed to. Only a region for all brings more.</summary>
    public required double ShareWanted { get; init; }
    /// <summary>Over the topics with subscribers.</summary>
    public required double RegionsPerTopic { get; init; }
    public required double GroupsPerTopic { get; init; }
    public required int MostGroupsOfATopic { get; init; }
    public required double SendsPerTopic { get; init; }
    /// <summary>The sends of a message where topics are as busy as they are popular.</summary>
    public required double SendsPerMessage { get; init; }
    /// <summary>The topics with an address of their own, and those of them to which a node subscribes.</summary>
    public required int TopicAddresses { get; init; }
    public required double TopicAddressesPerNode { get; init; }
    public required double SubscribersPerTopic { get; init; }

    public static OverlapFigures Of(RegionMap map, ZipfInterests interests, Func<int, NodeKey> keyOf, Func<int, ulong> topicOf)
    {
        int nodes = interests.OfNode.Length;
        var rankOf = new Dictionary<ulong, int>(interests.Topics);
        for (int rank = 0; rank < interests.Topics; rank++)
        {
            rankOf.Add(topicOf(rank), rank);
        }

        var perNode = new Dictionary<NodeKey, NodeLoad>(nodes);
        for (int node = 0; node < nodes; node++)
        {
            perNode.Add(keyOf(node), new NodeLoad { Wanted = interests.OfNode[node].Sum(interests.Traffic) });
        }

        var sets = new HashSet<int>();
        foreach (var region in map.Regions.Values)
        {
            sets.Add(region.Set);
            double traffic = 0;
            foreach (var topic in region.Topics)
            {
                traffic += interests.Traffic(rankOf[topic.Id]);
            }

            foreach (var member in region.Members)
            {
                perNode[member.Node.Key].Add(region, traffic);
            }
        }

        var topics = map.Topics.Values.Where(topic => topic.Subscribers > 0).OrderBy(topic => topic.Id).ToList();
        var loads = perNode.Values.ToList();
        double busy = topics.Sum(topic => interests.Traffic(rankOf[topic.Id]));
        return new OverlapFigures
        {
            Sets = sets.Count,
            Regions = map.RegionCount,
            RegionsWithGroup = map.Regions.Values.Count(region => region.Group is not null),
            TopicsPerNode = (double)topics.Sum(topic => topic.Subscribers) / nodes,
            RegionsPerNode = loads.Average(load => load.Regions),
            MostRegionsOfANode = loads.Max(load => load.Regions),
            GroupsPerNode = loads.Average(load => load.Groups),
            ShareOfTwoBusiest = loads.Average(load => load.ShareOfTwoBusiest),
            RegionsOfMostTraffic = loads.Average(load => load.RegionsOfMostTraffic),
            ShareSentSingly = loads.Average(load => load.ShareSentSingly),
            ShareWanted = loads.Average(load => load.ShareWanted),
            RegionsPerTopic = topics.Average(topic => topic.Regions.Count),
            GroupsPerTopic = topics.Average(GroupsOf),
            MostGroupsOfATopic = topics.Max(GroupsOf),
            SendsPerTopic = topics.Average(topic => SendsOf(map, topic)),
            SendsPerMessage = topics.Sum(topic => interests.Traffic(rankOf[topic.Id]) * SendsOf(map, topic)) / busy,
            TopicAddresses = map.TopicsWithAddress.Count,
            TopicAddressesPerNode = (double)map.TopicsWithAddress.Sum(topic => topic.Subscribers) / nodes,
            SubscribersPerTopic = topics.Average(topic => topic.Subscribers),
        };
    }

    private static int GroupsOf(MappedTopic topic) => topic.Regions.All.Count(region => region.Group is not null);

    // A shared packet lists a limited number of regions.
    private static int SendsOf(RegionMap map, MappedTopic topic) => map.AddressOf(topic) is null
        ? topic.Sends
        : (topic.Regions.Count + MostListed - 1) / MostListed;

    private sealed class NodeLoad
    {
        private const double MostTraffic = 0.95;

        private readonly List<double> _traffic = [];
        private double _all;
        private double _singly;

        /// <summary>The traffic of the topics that the node subscribes to.</summary>
        public required double Wanted { get; init; }

        public int Regions => _traffic.Count;

        public int Groups { get; private set; }

        public double ShareOfTwoBusiest => _all == 0 ? 1 : BusiestFirst.Take(2).Sum() / _all;

        public int RegionsOfMostTraffic
        {
            get
            {
                int regions = 0;
                double sum = 0;
                foreach (double traffic in BusiestFirst.TakeWhile(_ => sum < MostTraffic * _all))
                {
                    sum += traffic;
                    regions++;
                }

                return regions;
            }
        }

        public double ShareSentSingly => _all == 0 ? 0 : _singly / _all;

        public double ShareWanted => _all == 0 ? 1 : Wanted / _all;

        private IEnumerable<double> BusiestFirst => _traffic.OrderDescending();

        public void Add(Region region, double traffic)
        {
            Groups += region.Group is null ? 0 : 1;
            _singly += region.Group is null ? traffic : 0;
            _all += traffic;
            _traffic.Add(traffic);
        }
    }
}
