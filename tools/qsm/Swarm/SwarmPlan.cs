namespace QuickSilver.Tool.Swarm;

// What a swarm does. All of its processes are given the same figures and seed, so each knows who subscribes to what at all
// of them, and how many publishers each topic has, without asking.
internal sealed record SwarmPlan
{
    public const string Ready = "swarm/ready";

    public const string Done = "swarm/done";

    /// <summary>Nodes of this process.</summary>
    public required int Nodes { get; init; }

    /// <summary>The number of this process's first node among all.</summary>
    public required int First { get; init; }

    /// <summary>Nodes of all processes.</summary>
    public required int Total { get; init; }

    public required int Topics { get; init; }

    public required int TopicsPerNode { get; init; }

    /// <summary>Messages a second and node.</summary>
    public required double Rate { get; init; }

    public required double Seconds { get; init; }

    public required int PayloadBytes { get; init; }

    public required int Seed { get; init; }

    /// <summary>How long to wait for the others, and for what is missing.</summary>
    public required TimeSpan Limit { get; init; }

    public static string NameOf(int topic) => $"swarm/{topic}";

    /// <summary>The topics that a node publishes and subscribes to: the same for the same seed.</summary>
    public int[] TopicsOf(int node)
    {
        var random = new Random(unchecked((Seed * 1_000_003) + node));
        var topics = Enumerable.Range(0, Topics).ToArray();
        random.Shuffle(topics);
        return topics[..Math.Min(TopicsPerNode, Topics)];
    }

    public int[] PublishersByTopic()
    {
        var publishers = new int[Topics];
        for (int node = 0; node < Total; node++)
        {
            foreach (int topic in TopicsOf(node))
            {
                publishers[topic]++;
            }
        }

        return publishers;
    }
}
