using System.Net;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Stores;

namespace QuickSilver.Membership.Tests.Infrastructure;

// A membership service on a machine of its own, and nodes that know where it is.
internal sealed class FakeCluster
{
    private readonly ILogger _logger;
    private ulong _seed = 1000;

    public FakeCluster(MembershipServiceOptions? options = null, IMembershipStore? store = null, ILogger? logger = null)
    {
        _logger = logger ?? NullLogger.Instance;
        Options = options ?? new MembershipServiceOptions();
        Store = store ?? new MemoryMembershipStore();
        StartService();
    }

    public static IPEndPoint EndPoint { get; } = new(new IPAddress([10, 0, 0, 1]), 7401);

    public FakeWorld World { get; } = new();

    public MembershipServiceOptions Options { get; }

    public IMembershipStore Store { get; set; }

    public FakeEnvironment ServiceEnvironment { get; private set; } = null!;

    public MembershipService Service { get; private set; } = null!;

    public ServiceCounters Counters { get; private set; } = null!;

    public List<FakeNode> Nodes { get; } = [];

    /// <summary>Starts the service, or a new life of it after a crash.</summary>
    public void StartService()
    {
        ServiceEnvironment = World.AddNode(++_seed);
        Counters = new ServiceCounters();
        Service = new MembershipService(ServiceEnvironment, Options, Store, Counters, _logger);
        Service.Start(EndPoint);
    }

    public FakeNode AddNode(ulong id, uint incarnation = 1, byte[]? proof = null)
    {
        var node = FakeNode.Start(World, id, EndPoint, Options, incarnation, proof: proof);
        Nodes.Add(node);
        return node;
    }

    public FakeNode[] AddNodes(int count)
    {
        var nodes = Enumerable.Range(1, count).Select(id => AddNode((ulong)id)).ToArray();
        World.RunUntil(() => nodes.All(node => node.Nodes.Count == count));
        return nodes;
    }

    public void Run(double seconds) => World.Run(TimeSpan.FromSeconds(seconds));
}
