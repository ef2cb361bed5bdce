using System.Net;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Protocol;

// The bytes of each control message, in its frame. Nodes and services of different builds exchange them: a change here is a change of
// the protocol.
public sealed class ControlBytesTests
{
    private static readonly NodeKey Node = new(0x0102030405060708, 7);
    private static readonly IPEndPoint EndPoint = new(new IPAddress([10, 0, 0, 9]), 5000);

    [Fact]
    public void Join() => Holds(
        new JoinMessage
        {
            Cluster = "cl",
            ProtocolVersion = 3,
            Node = Node,
            EndPoint = EndPoint,
            Known = 300,
            Confirmed = 299,
            Service = 0x1122334455667788,
            JoinOrder = 4,
            KnownNodes = 2,
            Open = [new OpenView(9, 3), new OpenView(10, 0)],
        },
        "4B0000000A490A02636C10031A0B090807060504030201100722090A040A00000910882728AC0230AB02398877665544"
            + "33221140044802520B09090000000000000010035209090A00000000000000");

    [Fact]
    public void Join_with_the_name_of_the_node_and_its_process() => Holds(
        new JoinMessage
        {
            Cluster = "cl",
            ProtocolVersion = 3,
            Node = Node,
            EndPoint = EndPoint,
            Name = "a@b",
            Process = Process,
        },
        "350000000A330A02636C10031A0B090807060504030201100722090A040A0000091088276A03614062720E0A01621201"
            + "7018AC022203312E32");

    [Fact]
    public void Join_with_a_life_that_is_over() => Holds(
        new JoinMessage
        {
            Cluster = "cl",
            ProtocolVersion = 3,
            Node = Node,
            EndPoint = EndPoint,
            Ended = [new EndedLife(new NodeKey(5, 6), 0x1122334455667788, 300, new Origin(9, 2))],
        },
        "460000000A440A02636C10031A0B090807060504030201100722090A040A000009108827"
            + "7A240A0B090500000000000000100611887766554433221118AC022109000000000000002802");

    [Fact]
    public void JoinComplete() => Holds(
        SignalMessage.JoinComplete,
        "020000001200");

    [Fact]
    public void SetTopic() => Holds(
        new SetTopicMessage { RequestId = 5, Topic = Topic(TopicRole.Publish | TopicRole.Subscribe), Held = true, Routed = true },
        "C20000001ABF0108051206666CC3BC6765194D0000000000000020032AA3010A0944657061727475726512076D657373"
            + "6167651A0852656C6961626C6522044E6F6E652A1208011206466C696768741A06737472696E672A1C080212044C6567"
            + "731A107265706561746564206D65737361676520022A1408AC02120453656C661A076D657373616765200132350A034C"
            + "6567120F08011203566F6E1A06737472696E67121D0802120550617274731A107265706561746564206D657373616765"
            + "200230015801");

    [Fact]
    public void SetTopic_with_what_is_for_display() => Holds(
        new SetTopicMessage
        {
            RequestId = 5,
            Topic = Topic(TopicRole.Publish) with
            {
                Contract = new ContractDescription
                {
                    TypeName = "T",
                    Kind = "message",
                    Guarantee = "R",
                    Fields =
                    [
                        new(1, "A", "map<uint32, int32>") { LogicalType = "dateOnly", LogicalKeyType = "char", IsNullable = false },
                        new(2, "B", "int32") { Enum = 0, IsNullable = true },
                    ],
                    Enums = [new("E", true, [new("X", 0), new("Y", -1)])],
                },
            },
        },
        "8A0000001A870108051206666CC3BC6765194D0000000000000020012A700A015412076D6573736167651A015222044E"
            + "6F6E652A2B08011201411A126D61703C75696E7433322C20696E7433323E2A08646174654F6E6C793204636861724001"
            + "2A1008021201421A05696E74333238014002421A0A014510011A030A01581A0E0A015910FFFFFFFFFFFFFFFFFF01");

    [Fact]
    public void SetTopic_with_parameters() => Holds(
        new SetTopicMessage
        {
            RequestId = 5,
            Topic = Topic(TopicRole.Publish) with
            {
                Contract = new ContractDescription
                {
                    TypeName = "T",
                    Kind = "bytes",
                    Guarantee = "R",
                    IsPinned = true,
                    Parameters = ContractParameters.Of("k=2"),
                },
            },
        },
        "330000001A3108051206666CC3BC6765194D0000000000000020012A1A0A0154120562797465731A015222044E6F6E653801"
            + "4A036B3D32");

    [Fact]
    public void SetTopic_by_an_earlier_contract() => Holds(
        new SetTopicMessage { RequestId = 6, Topic = Topic(TopicRole.Publish), ContractOf = 5 },
        "190000001A1708061206666CC3BC6765194D0000000000000020013805");

    [Fact]
    public void SetTopic_with_the_view_that_the_node_holds() => Holds(
        new SetTopicMessage
        {
            RequestId = 6,
            Topic = Topic(TopicRole.Publish),
            ContractOf = 5,
            Region = 9,
            View = new HeldView(9, 3, 2, new IPEndPoint(new IPAddress([239, 0, 0, 1]), 5001), 1, new ViewDigest(0x102, 3)),
        },
        "500000001A4E08061206666CC3BC6765194D0000000000000020013805490900000000000000522C0909000000000000"
            + "001003180222090A04EF0000011089272801310201000000000000390300000000000000");

    [Fact]
    public void CloseTopic() => Holds(
        new CloseTopicMessage(128, 77),
        "0E000000220C088001114D00000000000000");

    [Fact]
    public void Confirm() => Holds(
        OpenViewsMessage.Confirm((1L << 32) + 5, [new OpenView(9, 3)]),
        "150000002A13088580808010120B0909000000000000001003");

    [Fact]
    public void Heartbeat() => Holds(
        KnownMessage.Heartbeat(1L << 32),
        "080000003206088080808010");

    [Fact]
    public void Heartbeat_of_a_new_node() => Holds(
        KnownMessage.Heartbeat(0),
        "020000003200");

    [Fact]
    public void Suspect() => Holds(
        new SuspectMessage(Node, "silent"),
        "170000003A150A0B0908070605040302011007120673696C656E74");

    [Fact]
    public void Suspect_with_a_long_reason() => Holds(
        new SuspectMessage(default, new string('r', 127)),
        "860000003A83010A00127F72727272727272727272727272727272727272727272727272727272727272727272727272"
            + "727272727272727272727272727272727272727272727272727272727272727272727272727272727272727272727272"
            + "727272727272727272727272727272727272727272727272727272727272727272727272727272727272");

    [Fact]
    public void Leave() => Holds(
        SignalMessage.Leave,
        "020000004200");

    [Fact]
    public void Resync() => Holds(
        KnownMessage.Resync(16_384),
        "060000004A0408808001");

    [Fact]
    public void Findings() => Holds(
        new FindingsMessage(3, new Findings(new EchoesAnswered(0x8001, 1), IsServiceReached: true)),
        "0C000000520A08031081800218012001");

    [Fact]
    public void Paused() => Holds(
        new PausedMessage(TimeSpan.FromMilliseconds(1500), PauseCause.Collector),
        "070000006A0508DC0B1001");

    [Theory]
    [InlineData("08FFFFFFFFFFFFFFFFFF011009", 4_294_967_295.0, 0)]
    [InlineData("10031A0100", 0.0, 3)]
    public void A_pause_that_makes_no_sense_is_read_as_one_that_does(string body, double milliseconds, byte cause) => Assert.Equal(
        new PausedMessage(TimeSpan.FromMilliseconds(milliseconds), (PauseCause)cause),
        PausedMessage.Read(Convert.FromHexString(body)));

    [Fact]
    public void Welcome() => Holds(
        new WelcomeMessage(Node.Id, Resumed: true, TimeSpan.FromMilliseconds(500), HeartbeatsMissed: 6),
        "140000008A0111090807060504030201100118A0C21E2006");

    [Fact]
    public void Refused() => Holds(
        ReasonMessage.Refused("no"),
        "070000009201040A026E6F");

    [Fact]
    public void TopicOutcome() => Holds(
        new TopicOutcomeMessage(5, "no"),
        "09000000A20106080512026E6F");

    [Fact]
    public void Settled() => Holds(
        OpenViewsMessage.Settled(9, [new OpenView(9, 3)]),
        "12000000AA010F0809120B0909000000000000001003");

    [Fact]
    public void Expelled() => Holds(
        ReasonMessage.Expelled("gone"),
        "09000000B201060A04676F6E65");

    [Fact]
    public void HeartbeatReply() => Holds(
        KnownMessage.HeartbeatReply(long.MaxValue),
        "0D000000BA010A08FFFFFFFFFFFFFFFF7F");

    [Fact]
    public void Goodbye() => Holds(
        new GoodbyeMessage(new IPEndPoint(EndPoint.Address, 0)),
        "0B000000C201080A060A040A000009");

    [Fact]
    public void Goodbye_to_no_node() => Holds(
        new GoodbyeMessage(null),
        "03000000C20100");

    [Fact]
    public void Left() => Holds(
        SignalMessage.Left,
        "03000000CA0100");

    [Fact]
    public void Inquiry() => Holds(
        new InquiryMessage
        {
            Id = 3,
            WaitMilliseconds = 250,
            ServicePort = 5002,
            Targets = [EndPoint, new IPEndPoint(new IPAddress([10, 0, 0, 8]), 1)],
        },
        "20000000D2011D080310FA01188A2722090A040A00000910882722080A040A0000081001");

    [Fact]
    public void Configuration()
    {
        var buffer = new ControlBuffer();
        var writer = new ConfigurationWriter(buffer);
        writer.Begin(new ConfigurationHeader((1L << 32) + 2, (1L << 32) + 1, IsSnapshot: true, LastRequest: 9));
        var address = new IPEndPoint(IPAddress.Parse("2001:db8::1"), 65_535);
        writer.Add(new NodeInfo(Node, address, JoinOrder: 3, AdmittedAt: 2, new Origin(11, -1)));
        writer.Add(new NodeKey(2, 1));
        writer.Add(new RegionView
        {
            RegionId = 9,
            Number = 3,
            Configuration = 2,
            Group = new IPEndPoint(new IPAddress([239, 0, 0, 1]), 5001),
            Members = [new NodeKey(1, 1), new NodeKey(2, 1)],
            Repair = new RepairRules(Replicas: 3, RingSize: 4),
        });
        writer.Add(new TopicView
        {
            TopicId = 77,
            Configuration = 2,
            Regions = [9, 10],
            Subscribed = true,
            Subscribers = 130,
            Routed = true,
        });
        writer.AddOutOfSight(12);
        writer.End(isLast: true);
        Assert.Equal(
            "C90000009A01C50108828080801010818080801018013A3D0A0B090807060504030201100712160A1020010DB8000000"
            + "00000000000000000110FFFF0318032002290B0000000000000030FFFFFFFFFFFFFFFFFF01420B090200000000000000"
            + "10014A360909000000000000001003180222090A04EF0000011089272A0B09010000000000000010012A0B0902000000"
            + "000000001001300338045224094D0000000000000010021A1009000000000000000A0000000000000020012882013001"
            + "590C0000000000000028013009",
            Convert.ToHexString(buffer.Written));
    }

    [Fact]
    public void Configuration_with_the_address_of_a_topic()
    {
        var buffer = new ControlBuffer();
        var writer = new ConfigurationWriter(buffer);
        writer.Begin(new ConfigurationHeader(5, 4, IsSnapshot: false, LastRequest: 9));
        writer.Add(new TopicView
        {
            TopicId = 77,
            Configuration = 2,
            Regions = [9],
            Subscribed = true,
            Subscribers = 4,
            Routed = false,
            Address = new TopicAddress(new IPEndPoint(new IPAddress([239, 0, 0, 2]), 5002), Since: (1L << 32) + 1),
        });
        writer.End(isLast: true);
        Assert.Equal(
            "370000009A013408051004522A094D0000000000000010021A080900000000000000200128043A090A04EF00000210"
            + "8A2740818080801028013009",
            Convert.ToHexString(buffer.Written));
    }

    [Fact]
    public void Watch() => Holds(
        new WatchMessage { Cluster = "c", ProtocolVersion = 3, Rows = 10 },
        "090000005A070A01631003180A");

    [Fact]
    public void Watch_of_one_that_sends_echoes() => Holds(
        new WatchMessage { Cluster = "c", ProtocolVersion = 3, Rows = 10, SendsEchoes = true },
        "0B0000005A090A01631003180A2001");

    [Fact]
    public void ListTopics() => Holds(
        new ListTopicsMessage { Cluster = "c", ProtocolVersion = 3, Name = "t", After = 7 },
        "1300000072110A016310031A0174210700000000000000");

    [Fact]
    public void TopicList() => Holds(
        new TopicListMessage { Topics = 3, Listed = 2, HasMore = true },
        "09000000F20106080310021801");

    [Fact]
    public void ListedTopic() => Holds(
        new ListedTopicMessage
        {
            TopicId = 7,
            Name = "t",
            Publishers = 1,
            Subscribers = 2,
            Versions = 1,
            Nodes = 2,
            Contract = new ContractDescription { TypeName = "T", Kind = "bytes", Guarantee = "R" },
            Holders = [Node],
        },
        "39000000FA013609070000000000000012017418012002280130023A130A015412056279746573"
            + "1A015222044E6F6E65420B0908070605040302011007");

    [Fact]
    public void FollowTopics() => Holds(
        new FollowTopicsMessage { Id = 7, Prefix = "p/", Most = 3 },
        "0A0000007A0808071202702F1803");

    [Fact]
    public void FollowedTopics() => Holds(
        new FollowedTopicsMessage { Id = 7, Begins = true, Ends = true, Beyond = 2, Published = ["p/a"], Gone = ["p/b"] },
        "150000008202120807100118012002" + "2A03702F613203702F62");

    [Fact]
    public void SnapshotQuestion() => Holds(
        new SnapshotQuestionMessage(5, 10),
        "07000000DA01040805100A");

    [Fact]
    public void Signs() => Holds(
        new SnapshotMessage { Question = 5, Signs = Told },
        "2200000062200805121C0801C2020178CA020B0909000000000000001002D202050A01741004");

    [Fact]
    public void ClusterSnapshot() => Holds(
        new ClusterSnapshotMessage { Configuration = 7, Nodes = 3, Reported = 2, Observers = 1, AgeMillis = 300, EchoPort = 7400 },
        "11000000E2010E080710031802200128AC0230E839");

    [Fact]
    public void ClusterSigns_with_the_number_of_topics() => Holds(
        new ClusterSnapshotMessage { Configuration = 7, Nodes = 3, Reported = 2, Topics = 300 },
        "0C000000E2010908071003180248AC02");

    [Fact]
    public void MemberSigns_of_a_silent_node() => Holds(
        new MemberSnapshotMessage
        {
            Node = Node,
            EndPoint = EndPoint,
            Outcome = SnapshotOutcome.Silent,
            SilentMillis = 300,
            HeardMillis = 5,
        },
        "22000000EA011F0A0B090807060504030201100712090A040A000009108827180120AC022805");

    [Fact]
    public void MemberSigns_as_they_came()
    {
        var told = new ControlBuffer();
        Told.Write(told);
        Holds(
            new MemberSnapshotMessage { Node = Node, EndPoint = EndPoint, Signs = told.Written.ToArray() },
            "39000000EA01360A0B090807060504030201100712090A040A000009108827321C0801C2020178CA020B0909000000000000001002D202050A01741004");
    }

    [Fact]
    public void MemberSigns_with_the_name_of_the_node_and_its_process() => Holds(
        new MemberSnapshotMessage { Node = Node, EndPoint = EndPoint, Outcome = SnapshotOutcome.Unable, Name = "a@b", Process = Process },
        "32000000EA012F0A0B090807060504030201100712090A040A00000910882718023A03614062420E0A016212017018AC022203312E32");

    [Fact]
    public void Configuration_with_the_name_of_a_node()
    {
        var buffer = new ControlBuffer();
        var writer = new ConfigurationWriter(buffer);
        writer.Begin(new ConfigurationHeader(5, 4, IsSnapshot: false, LastRequest: 9));
        writer.Add(new NodeInfo(Node, EndPoint, JoinOrder: 3, AdmittedAt: 2) { Name = "a@b" });
        writer.End(isLast: true);
        Assert.Equal(
            "2E0000009A012B080510043A210A0B090807060504030201100712090A040A00000910882718032002420361406228013009",
            Convert.ToHexString(buffer.Written));
    }

    [Fact]
    public void Configuration_with_a_life_that_is_over()
    {
        var buffer = new ControlBuffer();
        var writer = new ConfigurationWriter(buffer);
        writer.Begin(new ConfigurationHeader(5, 4, IsSnapshot: false, LastRequest: 9));
        writer.Add(new EndedLife(new NodeKey(5, 6), 0x1122334455667788, 300));
        writer.End(isLast: true);
        Assert.Equal(
            "260000009A0123080510046A190A0B090500000000000000100611887766554433221118AC0228013009",
            Convert.ToHexString(buffer.Written));
        Assert.True(ControlFrame.TryRead<ConfigurationMessage>(buffer.Written[7..], out var read, out _));
        Assert.Equal(new EndedLife(new NodeKey(5, 6), 0x1122334455667788, 300), Assert.Single(read.Content.Ended));
    }

    private static ProcessLabel Process => new() { Machine = "b", Process = "p", ProcessId = 300, Version = "1.2" };

    private static NodeSnapshot Told => new()
    {
        SpanMillis = 1,
        Trouble = "x",
        RegionRows = [new RegionSnapshot(9) { View = 2 }],
        TopicRows = [new TopicSnapshot("t") { Published = 4 }],
    };

    private static TopicRequest Topic(TopicRole role) => new()
    {
        Name = "flüge",
        TopicId = 77,
        Role = role,
        Contract = new ContractDescription
        {
            TypeName = "Departure",
            Kind = "message",
            Guarantee = "Reliable",
            Fields =
            [
                new(1, "Flight", "string"),
                new(2, "Legs", "repeated message") { Message = 1 },
                new(300, "Self", "message") { Message = 0 },
            ],
            Nested = [new("Leg", [new(1, "Von", "string"), new(2, "Parts", "repeated message") { Message = 1 }])],
        },
    };

    private static void Holds<T>(T message, string frame)
        where T : IControlMessage
    {
        var buffer = new ControlBuffer();
        ControlFrame.Append(buffer, message);
        Assert.Equal(frame, Convert.ToHexString(buffer.Written));
    }
}
