using System.Net;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Membership.Views;

namespace QuickSilver.Fuzz.Control;

// A message of each kind, as nodes and services write them.
internal static class ControlSeeds
{
    public static readonly IPEndPoint EndPoint = new(new IPAddress([10, 0, 0, 1]), 5000);

    private static readonly NodeKey Node = new(7, 1);

    public static readonly ContractDescription Contract = new()
    {
        TypeName = "Departure",
        Kind = "message",
        Guarantee = "Reliable",
        Fields =
        [
            new(1, "Flight", "string") { IsNullable = false },
            new(2, "Legs", "repeated message") { Message = 1, IsNullable = true },
            new(3, "Seats", "map<uint32, int32>") { LogicalKeyType = "char", LogicalType = "dateOnly" },
            new(4, "State", "int32") { Enum = 0 },
        ],
        Nested = [new("Leg", [new(1, "From", "string"), new(2, "Parts", "repeated message") { Message = 1 }])],
        Enums = [new("State", true, [new("Open", 1), new("Closed", -2)])],
    };

    public static IEnumerable<Seed> All()
    {
        foreach (var (name, message) in Messages())
        {
            var buffer = new ControlBuffer();
            message.Write(buffer);
            yield return new Seed(name, [(byte)message.Kind, .. buffer.Written]);
        }

        yield return new Seed("configuration", [ControlMessageKind.Configuration, .. ConfigurationTarget.Parts()[0]]);
        yield return new Seed("frames", [0, .. Frames(Join(7), SignalMessage.JoinComplete, KnownMessage.Heartbeat(3))]);
    }

    public static JoinMessage Join(ulong id, IPAddress? address = null, string cluster = "default") => new()
    {
        Cluster = cluster,
        ProtocolVersion = ControlFrame.ProtocolVersion,
        Node = new NodeKey(id, 1),
        EndPoint = new IPEndPoint(address ?? EndPoint.Address, 5000),
        ReportsSigns = true,
    };

    public static SetTopicMessage SetTopic(string name, ulong request = 1) => new()
    {
        RequestId = request,
        Topic = new TopicRequest
        {
            Name = name,
            TopicId = TopicId.Of(name),
            Role = TopicRole.Publish | TopicRole.Subscribe,
            Contract = Contract,
        },
    };

    /// <summary>The messages as a stream.</summary>
    public static byte[] Frames(params IControlMessage[] messages)
    {
        var buffer = new ControlBuffer();
        foreach (var message in messages)
        {
            ControlFrame.Append(buffer, message);
        }

        return buffer.Written.ToArray();
    }

    private static IEnumerable<(string Name, IControlMessage Message)> Messages()
    {
        var signs = new NodeSnapshot
        {
            SpanMillis = 1000,
            Published = 5,
            Gaps = 1,
            Trouble = "late",
            RegionRows = [new RegionSnapshot(3) { View = 2, Members = 4 }],
            TopicRows = [new TopicSnapshot("flights") { Published = 5, Subscribers = 2 }],
            ReasonRows = [new ReasonSnapshot("waits") { Kind = 1, WaitsFor = "a node", SinceMillis = 20 }],
            HeldRows = [new HeldSnapshot("flights") { PerThousandSeconds = 250_000, Reader = "b" }],
            ProtocolRows = [new ProtocolSnapshot("Group", "orders") { View = 3, Members = 2, Orderer = "a", Donor = "b", Takers = "c" }],
        };
        var opened = new ControlBuffer();
        signs.Write(opened);
        yield return ("join", Join(7) with { Known = 5, Confirmed = 4, Open = [new OpenView(3, 1)], Service = 9, JoinOrder = 2 });
        yield return ("joinended", Join(7) with { Ended = [new EndedLife(Node, 9, 4, new Origin(8, 3))] });
        yield return ("settopic", SetTopic("flights"));
        yield return ("closetopic", new CloseTopicMessage(2, 77));
        yield return ("confirm", OpenViewsMessage.Confirm(5, [new OpenView(3, 1)]));
        yield return ("heartbeat", KnownMessage.Heartbeat(5));
        yield return ("suspect", new SuspectMessage(Node, "silent"));
        yield return ("resync", KnownMessage.Resync(5));
        yield return ("findings", new FindingsMessage(3, new Findings(new EchoesAnswered(3, 1), true)));
        yield return ("watch", new WatchMessage { Cluster = "default", ProtocolVersion = ControlFrame.ProtocolVersion, Rows = 5 });
        yield return ("signs", new SnapshotMessage { Question = 4, Signs = signs });
        yield return ("paused", new PausedMessage(TimeSpan.FromSeconds(2), PauseCause.Handler));
        yield return ("listtopics", new ListTopicsMessage
        {
            Cluster = "default",
            ProtocolVersion = ControlFrame.ProtocolVersion,
            Name = "flights",
            After = 6,
        });
        yield return ("followtopics", new FollowTopicsMessage { Id = 1, Prefix = "fl", Most = 10 });
        yield return ("welcome", new WelcomeMessage(9, true, TimeSpan.FromMilliseconds(500), 6));
        yield return ("refused", ReasonMessage.Refused("no"));
        yield return ("waiting", ReasonMessage.Waiting("the disk is full."));
        yield return ("topicoutcome", new TopicOutcomeMessage(1, "another contract"));
        yield return ("settled", OpenViewsMessage.Settled(5, [new OpenView(3, 1)]));
        yield return ("goodbye", new GoodbyeMessage(EndPoint));
        yield return ("inquiry", new InquiryMessage { Id = 1, WaitMilliseconds = 500, ServicePort = 7401, Targets = [EndPoint] });
        yield return ("signsquestion", new SnapshotQuestionMessage(4, 5));
        yield return ("clustersigns", new ClusterSnapshotMessage
        {
            Configuration = 5,
            Nodes = 2,
            Reported = 2,
            AgeMillis = 10,
            EchoPort = 7,
        });
        yield return ("membersigns", new MemberSnapshotMessage { Node = Node, EndPoint = EndPoint, Signs = opened.Written.ToArray() });
        yield return ("topiclist", new TopicListMessage { Topics = 3, Listed = 1, HasMore = true });
        yield return ("listedtopic", new ListedTopicMessage { TopicId = 77, Name = "flights", Contract = Contract, Holders = [Node] });
        yield return ("followedtopics", new FollowedTopicsMessage { Id = 1, Begins = true, Published = ["flights"], Gone = ["fleet"] });
    }
}
