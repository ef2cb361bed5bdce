using System.Net;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Client.Watching;

namespace QuickSilver.Membership.Tests.Infrastructure;

// An observer that watches a cluster, and all reports that it got.
internal sealed class FakeObserver : IClusterSnapshotReader
{
    public FakeObserver(FakeWorld world, IPEndPoint? service, string cluster = "default", ulong seed = 77)
        : this(world, service is null ? [] : [service], cluster, seed)
    {
    }

    public FakeObserver(
        FakeWorld world, IPEndPoint[] servers, string cluster = "default", ulong seed = 77, DiscoveryOptions? discovery = null)
    {
        Environment = world.AddNode(seed);
        Observer = new ClusterObserver(
            Environment, [.. servers], cluster, discovery ?? new DiscoveryOptions(), this, NullLogger.Instance);
    }

    public FakeEnvironment Environment { get; }

    public ClusterObserver Observer { get; }

    public List<ClusterSnapshot> Answers { get; } = [];

    public ClusterSnapshot Last => Answers[^1];

    public string? Ended { get; private set; }

    public bool IsRefused { get; private set; }

    /// <summary>Asks as often as it is answered.</summary>
    public bool AsksOn { get; set; }

    public FakeObserver Ask(int rows = 10, bool sendsEchoes = false)
    {
        Observer.Ask(rows, sendsEchoes);
        return this;
    }

    public FakeObserver AskTopics(string name = "", ulong after = 0)
    {
        Observer.AskTopics(name, after);
        return this;
    }

    void IClusterSnapshotReader.OnAnswer(ClusterSnapshot signs)
    {
        Answers.Add(signs);
        if (AsksOn)
        {
            Observer.Ask(10);
        }
    }

    public List<ClusterTopics> Topics { get; } = [];

    void IClusterSnapshotReader.OnTopics(ClusterTopics topics) => Topics.Add(topics);

    void IClusterSnapshotReader.OnEnded(string reason, bool isRefusal)
    {
        Assert.Null(Ended);
        (Ended, IsRefused) = (reason, isRefusal);
    }
}
