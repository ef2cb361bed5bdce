using System.Net;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Failures;
using QuickSilver.Membership.Service.Quotas;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Service;

public sealed class MemberTableTests
{
    private static readonly FailureDetectorOptions Options = new();

    private readonly FailureDetector _failures = new(Options);
    private readonly MemberTable _members;

    public MemberTableTests() => _members = new MemberTable(_failures);

    [Fact]
    public void Members_are_listed_in_the_order_of_joining_and_found_by_key_and_by_id()
    {
        Member[] members = [Add(id: 7), Add(id: 3), Add(id: 5)];

        Assert.Equal(members, _members.All);
        Assert.Equal(members[1], _members[1]);
        Assert.Equal(members[2], _members.Find(new NodeKey(5, 1)));
        Assert.Null(_members.Find(new NodeKey(5, 2)));
        Assert.Equal(members[2], _members.FindById(5));
        Assert.Null(_members.FindById(6));
    }

    [Fact]
    public void Another_incarnation_is_added_only_after_the_first_is_removed()
    {
        var first = Add(id: 7);
        Assert.Throws<InvalidOperationException>(() => Add(id: 7, incarnation: 2));
        Assert.Equal([first], _members.All);

        _members.Remove(first);
        var second = Add(id: 7, incarnation: 2);

        _members.Remove(first);
        Assert.Equal([second], _members.All);
        Assert.Equal(second, _members.FindById(7));
    }

    [Fact]
    public void A_member_that_is_silent_since_it_was_heard_last_is_found_dead()
    {
        var silent = Add(id: 1);
        var heard = Add(id: 2);
        _members.Hear(heard, TimeSpan.FromSeconds(1));

        Assert.Equal([silent.Key], Dead(Options.Silence));
        Assert.Equal(TimeSpan.FromSeconds(1), heard.LastHeard);
    }

    [Fact]
    public void A_member_without_a_session_has_a_short_grace_until_it_is_heard_again()
    {
        var member = Add(id: 1);
        _members.Disconnect(member, TimeSpan.Zero);
        Assert.Null(member.Session);
        Assert.Equal([member.Key], Dead(Options.ReconnectGrace));

        _members.Hear(member, Options.ReconnectGrace);
        Assert.Empty(Dead(Options.ReconnectGrace));
    }

    [Fact]
    public void A_member_that_is_removed_is_not_watched()
    {
        var member = Add(id: 1);
        _members.Remove(member);

        Assert.Empty(Dead(Options.Silence));
        Assert.Equal(0, _members.Count);
    }

    private Member Add(ulong id, uint incarnation = 1)
    {
        var key = new NodeKey(id, incarnation);
        var endPoint = new IPEndPoint(IPAddress.Loopback, 5000);
        var info = new NodeInfo(key, endPoint, JoinOrder: 1);
        var join = new JoinMessage { Cluster = "c", ProtocolVersion = ControlFrame.ProtocolVersion, Node = key, EndPoint = endPoint };
        var member = new Member(info, join, new KeptBytes(new SessionLimits()));
        _members.Add(member, TimeSpan.Zero);
        return member;
    }

    private List<NodeKey> Dead(TimeSpan now)
    {
        var dead = new List<(NodeKey Node, string Reason)>();
        _failures.Collect(now, _ => 2, dead);
        return dead.ConvertAll(static one => one.Node);
    }
}
