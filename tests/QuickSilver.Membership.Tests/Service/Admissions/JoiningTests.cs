using System.Net;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Reachability;
using QuickSilver.Membership.Regions.Addresses;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Admissions;
using QuickSilver.Membership.Service.Arbitration;
using QuickSilver.Membership.Service.Configurations;
using QuickSilver.Membership.Service.Failures;
using QuickSilver.Membership.Service.Sessions;
using QuickSilver.Membership.Service.Stores;
using QuickSilver.Membership.Service.Topics;
using QuickSilver.Membership.Tests.Infrastructure;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Service.Admissions;

// How nodes become members, by calls and in virtual time.
public sealed class JoiningTests : Joining.IOwner, IMemberRoll
{
    private const ulong Life = 7;

    private readonly FakeWorld _world = new();
    private readonly MembershipServiceOptions _options = new();
    private readonly MemberTable _members = new(new FailureDetector(new FailureDetectorOptions()));
    private readonly RemovedAddresses _removedFrom = new();
    private readonly List<(NodeKey Node, bool IsOver)> _removed = [];
    private readonly SessionContext _context;
    private readonly ConfigurationIssuer _issuer;
    private readonly Inquiries _inquiries;
    private readonly Joining _joining;

    public JoiningTests()
    {
        var environment = _world.AddNode(seed: 1);
        var counters = new ServiceCounters();
        _context = new SessionContext(environment, _options.Limits, counters, NullLogger.Instance);
        _issuer = new ConfigurationIssuer(_context, _options, new MemoryMembershipStore(), _members, Life);
        _inquiries = new Inquiries(environment, _options.Cluster, counters);
        var topics = new MemberTopics(_issuer.Map, _context, _members);
        var admission = new Admission(_options.Cluster, _issuer.Numbers, _issuer.Ended, _members, Life, static () => null);
        _joining = new Joining(_context, _issuer, topics, _members, admission, this)
        {
            Entrance = new Entrance(_context, _inquiries, this, _removedFrom, new FirewallAdvice(GroupPorts.Default)),
        };
    }

    IReadOnlyList<Member> IMemberRoll.Members => _members.All;

    void Joining.IOwner.Remove(Member member, string reason, bool isOver)
    {
        _removed.Add((member.Key, isOver));
        _members.Remove(member);
        _issuer.Map.RemoveNode(member.Key);
        if (!member.IsNew)
        {
            _issuer.OnRemoved(member);
        }
    }

    void Joining.IOwner.OnConfirm(Member member, OpenViewsMessage confirmed) => member.Confirmed = confirmed.Configuration;

    Member? IMemberRoll.Find(NodeKey node) => _members.Find(node);

    void IMemberRoll.RemoveUnreachable(Member member, string reason) => Assert.Fail("nothing is unreachable here");

    [Fact]
    public void A_new_node_becomes_a_member_and_is_announced_with_the_next_batch()
    {
        var client = Join(Of(id: 1));

        Assert.Equal([ControlMessageKind.Welcome], client.Kinds);
        var member = _members.Find(new NodeKey(1, 1));
        Assert.True(member is { IsNew: true } && member.Session == client.Session);

        _world.Run(TimeSpan.FromSeconds(5));
        Assert.False(member.IsNew);
        Assert.Contains(ControlMessageKind.Configuration, client.Kinds);
    }

    [Fact]
    public void A_node_of_another_cluster_is_refused()
    {
        var client = new Client(_context);
        _joining.Begin(client.Session, Of(id: 1) with { Cluster = "another" });

        Assert.Equal([ControlMessageKind.Refused], client.Kinds);
        Assert.Equal(0, _members.Count);
    }

    [Fact]
    public void A_member_that_reconnects_keeps_its_place_and_its_first_session_is_closed()
    {
        var first = Join(Of(id: 1));
        _world.Run(TimeSpan.FromSeconds(5));
        var member = _members.Find(new NodeKey(1, 1));

        var second = Join(Of(id: 1) with { Service = Life, Known = _issuer.Numbers.Current, Confirmed = _issuer.Numbers.Current });

        Assert.Same(member, _members.Find(new NodeKey(1, 1)));
        Assert.Same(second.Session, member!.Session);
        Assert.True(first.IsClosed);
        Assert.Equal(_issuer.Numbers.Current, member.Confirmed);
        Assert.Empty(_removed);
    }

    [Fact]
    public void A_newer_incarnation_ends_the_life_of_the_member_before_it()
    {
        Join(Of(id: 1));
        Join(Of(id: 1, incarnation: 2));

        Assert.Equal([(new NodeKey(1, 1), true)], _removed);
        Assert.Equal(new NodeKey(1, 2), _members.FindById(1)!.Key);
    }

    [Fact]
    public void A_member_that_returns_from_another_service_is_admitted_after_its_removal_is_announced()
    {
        Join(Of(id: 1));
        Join(Of(id: 2));
        _world.Run(TimeSpan.FromSeconds(5));
        var returning = Of(id: 1) with { Service = Life + 1, Known = _issuer.Numbers.Current + 1 };

        Assert.True(Join(returning).IsClosed);
        Assert.Equal([(new NodeKey(1, 1), false)], _removed);
        Assert.Null(_members.FindById(1));

        _issuer.MarkChanged();
        _world.Run(TimeSpan.FromSeconds(30));
        Assert.False(Join(returning).IsClosed);
        Assert.NotNull(_members.FindById(1));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_node_from_an_address_whose_datagrams_were_lost_is_a_member_after_it_has_reached_the_others(bool reaches)
    {
        Join(Of(id: 2));
        var join = Of(id: 1);
        _removedFrom.Add(join.EndPoint.Address, [new NodeKey(2, 1)], _world.Now);

        var client = Join(join);
        Assert.True(client.Session.IsProving);
        Assert.Null(_members.FindById(1));

        _inquiries.OnFindings(client.Session, client.Findings(reaches));
        Assert.Equal(reaches, _members.FindById(1) is not null);
        Assert.Equal([ControlMessageKind.Inquiry, reaches ? ControlMessageKind.Welcome : ControlMessageKind.Refused], client.Kinds);
    }

    private Client Join(JoinMessage join)
    {
        var client = new Client(_context);
        _joining.Begin(client.Session, join);
        _joining.Complete(client.Session, join, []);
        return client;
    }

    private JoinMessage Of(ulong id, uint incarnation = 1) => new()
    {
        Cluster = _options.Cluster,
        ProtocolVersion = ControlFrame.ProtocolVersion,
        Node = new NodeKey(id, incarnation),
        EndPoint = new IPEndPoint(new IPAddress([10, 0, 0, (byte)id]), 5000),
    };

    // The other end of a session: what it got.
    private sealed class Client : IControlStream, IControlRequests
    {
        private readonly List<byte> _received = [];

        public Client(SessionContext context) => Session = new ControlSession(context, this, this);

        public ControlSession Session { get; }

        public bool IsClosed { get; private set; }

        public IEnumerable<int> Kinds => Frames().Select(static frame => frame.Kind);

        public IPEndPoint? RemoteEndPoint => null;

        public long PendingBytes => 0;

        // The targets of the last inquiry answer, or none does.
        public FindingsMessage Findings(bool reaches)
        {
            byte[] body = Frames().Last(static frame => frame.Kind == ControlMessageKind.Inquiry).Body;
            Assert.True(ControlFrame.TryRead<InquiryMessage>(body, out var inquiry, out _));
            ulong answered = reaches ? (1UL << inquiry.Targets.Length) - 1 : 0;
            return new FindingsMessage(inquiry.Id, new Findings(new EchoesAnswered(answered, answered), IsServiceReached: reaches));
        }

        public void Send(ReadOnlySpan<byte> bytes) => _received.AddRange(bytes);

        public void SendShared(byte[] bytes) => Send(bytes);

        public void Close() => IsClosed = true;

        void IControlRequests.OnSessionClosed(ControlSession session)
        {
        }

        void IControlRequests.OnJoin(ControlSession session, JoinMessage join) => Unexpected();

        void IControlRequests.OnJoinComplete(ControlSession session, JoinMessage join, List<SetTopicMessage> topics) => Unexpected();

        void IControlRequests.OnSetTopic(Member member, SetTopicMessage request) => Unexpected();

        void IControlRequests.OnCloseTopic(Member member, CloseTopicMessage request) => Unexpected();

        void IControlRequests.OnMuchKept() => Unexpected();

        void IControlRequests.OnConfirm(Member member, OpenViewsMessage request) => Unexpected();

        void IControlRequests.OnHeartbeat(Member member, long known) => Unexpected();

        void IControlRequests.OnSuspect(Member member, NodeKey node, string reason) => Unexpected();

        void IControlRequests.OnFindings(ControlSession session, FindingsMessage findings) => Unexpected();

        void IControlRequests.OnWatch(ControlSession session, WatchMessage watch) => Unexpected();

        void IControlRequests.OnListTopics(ControlSession session, ListTopicsMessage request) => Unexpected();

        void IControlRequests.OnSigns(Member member, ulong question, byte[] signs) => Unexpected();

        void IControlRequests.OnPaused(Member member, PausedMessage pause) => Unexpected();

        void IControlRequests.OnFollowTopics(Member member, FollowTopicsMessage request) => Unexpected();

        void IControlRequests.OnLeave(Member member) => Unexpected();

        void IControlRequests.OnResync(Member member) => Unexpected();

        private static void Unexpected() => Assert.Fail("the client sends nothing");

        private List<(int Kind, byte[] Body)> Frames()
        {
            var frames = new List<(int Kind, byte[] Body)>();
            ReadOnlySpan<byte> rest = _received.ToArray();
            while (ControlFrame.TryCut(rest, ControlFrame.MaxFromServiceBytes, out int kind, out var body, out int length)
                == FrameOutcome.Complete)
            {
                frames.Add((kind, body.ToArray()));
                rest = rest[length..];
            }

            return frames;
        }
    }
}
