using System.Net;
using QuickSilver.Core.Transport.Descriptors;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Hosting.Tests.Health;

// The reasons that a node has because of the network or of other nodes: whole nodes in virtual time. In their texts, the identity of a node
// is replaced by NODE and its number.
internal static class ClusterReasons
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    // More than a window or a queue has room for.
    private static readonly string Large = new('x', 50_000);

    public static Task<StatusReason> DatagramsLost()
    {
        using var cluster = Started(nodes: 4);
        var news = News(cluster);
        cluster.Nodes[3].Faults.HearsNoDatagrams = true;
        cluster.Nodes[3].Faults.SendsNoDatagrams = true;
        Publish(cluster, news, 10);
        return Reason(cluster, 3, StatusReasonKind.DatagramsLost);
    }

    public static Task<StatusReason> NotDiscoverable()
    {
        var options = new SimulationOptions
        {
            Nodes = 1,
            StartedNodes = 0,
            Membership = MembershipPlacement.Embedded,
            Link = new LinkModel { MulticastOff = true },
        };
        using var cluster = new SimulatedCluster(options);
        cluster.Start();
        cluster.Nodes[0].Start();
        cluster.Eventually("the node has joined", () => cluster.Nodes[0].IsJoined);
        return Reason(cluster, 0, StatusReasonKind.NotDiscoverable);
    }

    public static Task<StatusReason> PathTooSmall()
    {
        using var cluster = Started(nodes: 3);
        var news = News(cluster);
        cluster.Nodes[1].Faults.InboundLargestBytes = 1_252;
        Publish(cluster, news, 10);
        return Reason(cluster, 0, StatusReasonKind.PathTooSmall);
    }

    public static Task<StatusReason> AddressLost()
    {
        using var cluster = Started(nodes: 2);
        cluster.Nodes[1].Faults.HasNoAddress = true;
        return Reason(cluster, 1, StatusReasonKind.AddressLost);
    }

    // The node that hosted the service first is cut off from streams, and finds that another one hosts it now.
    public static Task<StatusReason> HostNotReached()
    {
        var options = new SimulationOptions { Nodes = 3, StartedNodes = 0, Membership = MembershipPlacement.Embedded };
        using var cluster = new SimulatedCluster(options);
        cluster.Start();
        foreach (var node in cluster.Nodes)
        {
            node.Start();
            cluster.Eventually("the node has joined", () => node.IsJoined);
        }

        cluster.Nodes[0].Faults.HasNoStreams = true;
        int? decides = null;
        cluster.RunUntil(
            () =>
            {
                decides = cluster.Nodes.FirstOrDefault(static one => one.Node.Status.Reasons.Any(
                    static reason => reason.Kind == StatusReasonKind.HostNotReached))?.Number;
                return decides is not null;
            },
            Second * 40);
        return Reason(cluster, decides ?? 0, StatusReasonKind.HostNotReached);
    }

    public static Task<StatusReason> DescriptorsFew()
    {
        using var cluster = Started(nodes: 2);
        var room = new DescriptorRoom(160, static () => DateTimeOffset.UnixEpoch);
        room.OnOpened(room.Limit - 1);
        cluster.Nodes[1].Faults.Descriptors = room;
        return Reason(cluster, 1, StatusReasonKind.DescriptorsFew);
    }

    public static Task<StatusReason> HeapFull()
    {
        using var cluster = Started(nodes: 2);
        var news = News(cluster);
        cluster.Nodes[1].Faults.Heap.Refuses = static (_, bytes) => bytes > 10_000;
        Publish(cluster, news, 1);
        return Reason(cluster, 1, StatusReasonKind.HeapFull);
    }

    public static Task<StatusReason> ServersApart()
    {
        using var cluster = new SimulatedCluster(
            new SimulationOptions { Nodes = 1, StartedNodes = 0, Membership = MembershipPlacement.Dedicated });
        cluster.Start();
        var named = cluster.Services[0];
        cluster.Services = [named, new IPEndPoint(named.Address, named.Port + 1)];
        cluster.Nodes[0].Start();
        cluster.Eventually("the node has joined", () => cluster.Nodes[0].IsJoined);
        return Reason(cluster, 0, StatusReasonKind.ServersApart);
    }

    public static Task<StatusReason> GroupRefused()
    {
        using var cluster = Started(nodes: 3);
        cluster.Nodes[1].Faults.Refusals.Begin(SystemCalls.OpenGroup);
        News(cluster);
        return Reason(cluster, 1, StatusReasonKind.GroupRefused);
    }

    public static Task<StatusReason> SendersNotHeard() => WithoutMulticast(1, StatusReasonKind.SendersNotHeard);

    public static Task<StatusReason> NotHeard() => WithoutMulticast(0, StatusReasonKind.NotHeard);

    public static Task<StatusReason> AcknowledgementMissing()
    {
        using var cluster = Started(nodes: 2);
        var news = News(cluster);
        cluster.Nodes[1].Pause();
        Publish(cluster, news, 1_000);
        return Reason(cluster, 0, StatusReasonKind.AcknowledgementMissing);
    }

    public static Task<StatusReason> RepairMissing()
    {
        using var cluster = Started(nodes: 3);
        var news = News(cluster);
        // Neither a large packet nor its repairs arrive, in whatever pieces, and a small one shows that it is missing.
        cluster.Nodes[1].Faults.InboundLargestBytes = 500;
        Publish(cluster, news, 1);
        Publish(cluster, news, 1, "small");
        return Reason(cluster, 1, StatusReasonKind.RepairMissing);
    }

    public static Task<StatusReason> ReaderFull() => WithReaderThatDoesNotRead(1, StatusReasonKind.ReaderFull);

    public static Task<StatusReason> ReaderElsewhereFull() => WithReaderThatDoesNotRead(0, StatusReasonKind.ReaderElsewhereFull);

    public static Task<StatusReason> MemoryFull()
    {
        using var cluster = Started(nodes: 2, limits: new NodeLimits { BufferBytes = 32 << 20 });
        var news = News(cluster);
        // As if other streams had all of it.
        var memory = cluster.Machines.Nodes[0].Environment.Buffers;
        while (memory.TryRentToSend() is not null)
        {
        }

        Publish(cluster, news, 1);
        return Reason(cluster, 0, StatusReasonKind.MemoryFull);
    }

    public static Task<StatusReason> ViewMissing()
    {
        using var cluster = Started(nodes: 2);
        var publisher = cluster.Nodes[0].Node;
        var topic = cluster.RunUntilCompleted(publisher.OpenPublisherAsync<string>("news"));
        cluster.Network.Partition([cluster.Service!.Value], [0, 1]);
        Publish(cluster, topic, 1);
        return Reason(cluster, 0, StatusReasonKind.ViewMissing);
    }

    public static Task<StatusReason> TopicOpening()
    {
        using var cluster = Started(nodes: 2);
        cluster.RunUntilCompleted(cluster.Nodes[1].Node.OpenTopicAsync<string>("news"));
        cluster.Network.Partition([cluster.Service!.Value], [0, 1]);
        _ = cluster.Nodes[1].Node.OpenTopicAsync<string>("late");
        return Reason(cluster, 1, StatusReasonKind.TopicOpening);
    }

    // The publisher's own node has two endpoints that subscribe, and is one of three nodes.
    public static Task<StatusReason> SubscribersMissing()
    {
        using var cluster = Started(nodes: 2);
        var topic = cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenTopicAsync<string>("news"));
        cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenSubscriberAsync<string>("news"));
        cluster.RunUntilCompleted(topic.WaitForSubscribersAsync(1));
        var waiting = topic.WaitForSubscribersAsync(2);
        var reason = Reason(cluster, 0, StatusReasonKind.SubscribersMissing);
        cluster.RunUntilCompleted(cluster.Nodes[1].Node.OpenSubscriberAsync<string>("news"));
        cluster.RunUntilCompleted(waiting);
        return reason;
    }

    private static Task<StatusReason> WithoutMulticast(int node, StatusReasonKind kind)
    {
        using var cluster = Started(nodes: 3, new LinkModel { MulticastOff = true });
        var news = News(cluster);
        Publish(cluster, news, 100);
        return Reason(cluster, node, kind);
    }

    private static Task<StatusReason> WithReaderThatDoesNotRead(int node, StatusReasonKind kind)
    {
        using var cluster = Started(nodes: 2);
        var subscriber = cluster.RunUntilCompleted(
            cluster.Nodes[1].Node.OpenSubscriberAsync<string>("news", new TopicOptions { ReaderCapacity = 1 }));
        var reader = subscriber.ReadAllAsync().GetAsyncEnumerator();
        var topic = cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenPublisherAsync<string>("news"));
        cluster.RunUntilCompleted(topic.WaitForSubscribersAsync(1));
        Publish(cluster, topic, 1_000);
        var reason = Reason(cluster, node, kind);
        GC.KeepAlive(reader);
        return reason;
    }

    public static SimulatedCluster Started(int nodes, LinkModel? link = null, NodeLimits? limits = null)
    {
        var cluster = new SimulatedCluster(new SimulationOptions
        {
            Nodes = nodes,
            Membership = MembershipPlacement.Dedicated,
            Link = link ?? new LinkModel(),
            NodeOptions = new QuickSilverOptions { StallWarning = Second, Limits = limits ?? new NodeLimits() },
        });
        cluster.Start();
        return cluster;
    }

    public static Task<StatusReason> Reason(SimulatedCluster cluster, int number, StatusReasonKind kind)
    {
        var node = cluster.Nodes[number].Node;
        var nodes = cluster.Nodes.Select(one => ($"{one.Node.Name} ({one.Node.Id})", $"NODE{one.Number}")).ToList();
        var seen = new Dictionary<StatusReasonKind, StatusReason>();
        cluster.RunUntil(
            () =>
            {
                foreach (var one in node.Status.Reasons)
                {
                    seen.TryAdd(one.Kind, one);
                }

                return seen.ContainsKey(kind);
            },
            Second * 30);
        Assert.True(seen.TryGetValue(kind, out var reason), $"Node {number} had no {kind}, but: {string.Join('\n', seen.Values)}");
        foreach (var (id, name) in nodes)
        {
            reason = reason with
            {
                Description = reason.Description.Replace(id, name, StringComparison.Ordinal),
                WaitsFor = reason.WaitsFor?.Replace(id, name, StringComparison.Ordinal),
            };
        }

        return Task.FromResult(reason);
    }

    // Node 0 publishes the topic "news", which all others read.
    private static ITopicPublisher<string> News(SimulatedCluster cluster)
    {
        foreach (var node in cluster.Nodes.Skip(1))
        {
            cluster.RunUntilCompleted(node.Node.OpenSubscriberAsync<string>("news")).SubscribeInline((in Message<string> _) => { });
        }

        var topic = cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenPublisherAsync<string>("news"));
        cluster.RunUntilCompleted(topic.WaitForSubscribersAsync(cluster.Nodes.Count - 1));
        return topic;
    }

    // In virtual time: otherwise, what the queue does not take would continue at some moment of real time.
    private static void Publish(
        SimulatedCluster cluster, ITopicPublisher<string> topic, int messages, string? text = null) =>
        cluster.RunUntilCompleted(() =>
        {
            for (int i = 0; i < messages; i++)
            {
                _ = topic.PublishAsync(text ?? Large);
            }

            return Task.CompletedTask;
        });
}
