using System.Net;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Repair;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Repair.Pulls;

// Whom a member asks for what it misses, and for how much at a time. Two partitions of three members each: the first keeps the
// packets up to 7, the second those from 8 to 15, and so on in eights.
public sealed class PeerPullRepairTests
{
    private readonly LoneMember _member = new(members: 6, rank: 1, repair: new RepairRules(Replicas: 3)) { OthersHoldAll = true };

    [Fact]
    public void A_gap_is_asked_for_when_it_is_older_than_the_reordering_window()
    {
        _member.Receive(1, 3);
        _member.Advance(_member.Options.ReorderWindow - TimeSpan.FromTicks(1));
        Assert.Empty(Pulls());

        _member.Advance(TimeSpan.FromTicks(1));

        var (_, ranges) = Assert.Single(Pulls());
        Assert.Equal([(2L, 2L)], ranges);
    }

    [Fact]
    public void A_packet_that_comes_within_the_reordering_window_is_not_asked_for()
    {
        _member.Receive(1, 3, 2);
        _member.Advance(1_000);

        Assert.Empty(Pulls());
    }

    [Fact]
    public void A_packet_is_asked_of_a_member_that_keeps_it_then_of_another_such_then_of_the_sender()
    {
        _member.Receive(1, 9, 11);
        var asked = new List<IPEndPoint>();
        for (int i = 0; asked.Count < 4; i++)
        {
            Assert.True(i < 1_000);
            _member.Environment.Random++;
            _member.Advance(1);
            asked.AddRange(Pulls().FindAll(pull => pull.Ranges.Contains((10L, 10L))).ConvertAll(pull => pull.To));
        }

        var keepers = _member.Keys[3..].Select(LoneMember.EndPointOf).ToList();
        Assert.Contains(asked[0], keepers);
        Assert.Contains(asked[1], keepers);
        Assert.Equal([LoneMember.EndPointOf(LoneMember.Publisher), LoneMember.EndPointOf(LoneMember.Publisher)], asked[2..]);
    }

    [Fact]
    public void Packets_that_are_due_together_go_in_one_request_to_each_partition()
    {
        _member.Receive(1, 4, 6, 9, 12, 15, 17, 19);
        _member.Advance(_member.Options.ReorderWindow);

        var pulls = Pulls();
        Assert.Equal(2, pulls.Count);
        Assert.Equal([(2L, 3L), (5L, 5L), (7L, 7L), (16L, 16L), (18L, 18L)], pulls[0].Ranges);
        Assert.Equal([(8L, 8L), (10L, 11L), (13L, 14L)], pulls[1].Ranges);
    }

    [Fact]
    public void A_member_does_not_ask_itself()
    {
        _member.Receive(1, 3);
        for (ulong choice = 0; choice < 20; choice++)
        {
            _member.Environment.Random = choice;
            _member.Advance(10);
        }

        Assert.DoesNotContain(Pulls(), pull => pull.To.Equals(LoneMember.EndPointOf(_member.Self)));
    }

    [Fact]
    public void When_no_keeper_lives_another_member_is_asked()
    {
        foreach (var keeper in _member.Keys[3..])
        {
            _member.Remove(keeper);
        }

        _member.Receive(8, 10);
        _member.Advance(_member.Options.ReorderWindow);

        Assert.All(Pulls(), pull => Assert.Contains(pull.To, _member.Keys[..3].Select(LoneMember.EndPointOf)));
    }

    [Fact]
    public void A_sender_that_is_gone_is_not_asked()
    {
        _member.Receive(1, 3);
        _member.Remove(LoneMember.Publisher);

        _member.Advance(5_000);

        var pulls = Pulls();
        Assert.True(pulls.Count > 10);
        Assert.DoesNotContain(pulls, pull => pull.To.Equals(LoneMember.EndPointOf(LoneMember.Publisher)));
    }

    // Each decision counts requests from the start: keepers that lack a packet must not be the only ones that are asked between two
    // decisions.
    [Theory]
    [InlineData(2)]
    [InlineData(5)]
    public void Packets_of_a_departed_sender_are_asked_of_keepers_and_of_others_however_often_the_members_decide(double apartMs)
    {
        _member.Receive(1, 9, 11);
        _member.Remove(LoneMember.Publisher);
        var asked = new HashSet<IPEndPoint>();
        for (int i = 0; i < 40; i++)
        {
            _member.Environment.Random = unchecked((ulong)i * 0x9E3779B97F4A7C15) >> 32;
            _member.Region.AskAnew(_member.Stream);
            _member.Advance(apartMs);
            asked.UnionWith(Pulls().FindAll(pull => pull.Ranges.Contains((10L, 10L))).ConvertAll(pull => pull.To));
        }

        Assert.Superset(_member.Keys.Where(key => key != _member.Self).Select(LoneMember.EndPointOf).ToHashSet(), asked);
        Assert.True(_member.Region.NeedsNeighbourPush(_member.Stream));
    }

    [Fact]
    public void When_two_are_left_of_which_one_is_the_sender_the_sender_is_asked_at_once()
    {
        var member = new LoneMember(members: 2, rank: 1);
        var stream = member.Region.FindOrAdd(new StreamKey(member.Keys[0], StreamClass.Reliable));
        member.Receive(stream, 1, 3);

        member.Advance(member.Options.ReorderWindow);

        Assert.Equal(LoneMember.EndPointOf(member.Keys[0]), Assert.Single(member.Port.Take(PacketKind.Pull)).To);
    }

    [Fact]
    public void The_only_member_asks_the_sender_at_once()
    {
        var member = new LoneMember(members: 1, rank: 0);
        member.Receive(1, 3);

        member.Advance(member.Options.ReorderWindow);

        Assert.Equal(LoneMember.EndPointOf(LoneMember.Publisher), Assert.Single(member.Port.Take(PacketKind.Pull)).To);
    }

    [Fact]
    public void A_request_names_the_stream_and_says_how_far_it_is_known()
    {
        _member.Receive(1, 3, 7);
        _member.Advance(_member.Options.ReorderWindow);

        var packet = Assert.Single(_member.Port.Take(PacketKind.Pull));
        Assert.True(PullRequest.TryRead(packet.Body, out var origin, out _));
        Assert.Equal((LoneMember.Publisher, 7), (origin, packet.Sequence));
    }

    [Fact]
    public void Nothing_is_asked_for_while_the_stream_would_refuse_it()
    {
        _member.Receive(1, 3);
        _member.Remove(LoneMember.Publisher);
        var token = _member.TokenOf(_member.Keys[0], 1);
        var record = token.Add(LoneMember.Publisher);
        (record.HeldByAny, record.Epoch, record.IsGathering, record.Through) = (3, 1UL << 32 | 1, true, 3);
        _member.Give(token, _member.Keys[0]);
        Pulls();

        _member.Advance(2_000);

        Assert.Empty(Pulls());
    }

    [Fact]
    public void Each_missing_packet_has_its_own_time()
    {
        _member.Receive(1, 3);
        _member.Advance(_member.Options.ReorderWindow);
        Pulls();
        _member.Receive(5);

        _member.Advance(_member.Options.ReorderWindow);

        Assert.Equal([(4L, 4L)], Assert.Single(Pulls()).Ranges);
    }

    [Fact]
    public void After_attempts_at_members_the_ring_is_asked_to_push_until_all_has_come()
    {
        _member.Receive(1, 3);
        _member.Advance(_member.Options.ReorderWindow);
        Assert.False(_member.Region.NeedsNeighbourPush(_member.Stream));

        _member.Advance(100);
        Assert.True(_member.Region.NeedsNeighbourPush(_member.Stream));

        _member.Receive(2);
        _member.Advance(1_000);
        Assert.False(_member.Region.NeedsNeighbourPush(_member.Stream));
    }

    [Fact]
    public void A_best_effort_stream_asks_no_member_and_gives_its_gaps_up_after_a_while()
    {
        var stream = _member.BestEffortStream;
        _member.Receive(stream, 1, 3);
        _member.Advance(_member.Options.BestEffortPatience - TimeSpan.FromTicks(1));
        Assert.False(stream.Missing.IsEmpty);

        _member.Advance(TimeSpan.FromTicks(1));

        Assert.True(stream.Missing.IsEmpty);
        Assert.Equal(3, stream.Consumed);
        _member.Advance(1_000);
        Assert.Empty(Pulls());
    }

    private List<(IPEndPoint To, List<(long First, long Last)> Ranges)> Pulls() => _member.Port.Take(PacketKind.Pull).ConvertAll(packet =>
    {
        Assert.True(PullRequest.TryRead(packet.Body, out _, out int count));
        var ranges = new List<(long, long)>();
        for (int i = 0; i < count; i++)
        {
            ranges.Add(PullRequest.Range(packet.Body, i));
        }

        return (packet.To, ranges);
    });
}
