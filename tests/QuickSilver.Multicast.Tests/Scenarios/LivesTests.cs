using System.Globalization;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Stability.Tokens;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Scenarios;

// Publishers that come and go while a view stays open leave nothing behind (I17).
//
// More lives: QS_LIVES=100000 dotnet test --project tests/QuickSilver.Multicast.Tests -c Release --filter-class "*.LivesTests"
[Collection(AbsurdNumbersTests.Alone)]
public sealed class LivesTests
{
    private const int FewestLives = 1_800;
    // By then the tables of departed nodes, which have limits, are full.
    private const int LivesUntilFull = 1_200;
    private const int Messages = 3;
    private const int MostStreams = 16;
    private const long MostBytesPerLife = 800;

    private static int Lives => int.TryParse(Environment.GetEnvironmentVariable("QS_LIVES"), CultureInfo.InvariantCulture, out int lives)
        ? Math.Max(lives, FewestLives)
        : FewestLives;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void State_of_publishers_that_came_and_went_is_freed_at_the_members_of_a_view(bool reliable)
    {
        var cluster = new MulticastCluster(1, nodes: 4);
        Host[] members = [cluster[0], cluster[1], cluster[2]];
        foreach (var member in members)
        {
            member.Subscribes(1, reliable);
        }

        var passing = cluster[3];
        cluster.Commit();
        int lives = Lives;
        long before = 0;
        for (int life = 1; life <= lives; life++)
        {
            passing.Publishes(1, reliable);
            cluster.Commit();
            passing.PublishAll(1, Messages, 100);
            Assert.True(cluster.RunUntil(() => Array.TrueForAll(members, member => member.Log.Count >= Messages)), $"life {life}");
            cluster.Simulation.Nodes[3].Crash();
            cluster.Service.Remove(passing.Key);
            cluster.Simulation.Run(TimeSpan.FromSeconds(1));
            foreach (var member in members)
            {
                Assert.Equal(Messages, member.Log.Count);
                Assert.Empty(member.Gaps);
                MulticastCluster.AssertRun(member, passing, 1, 1, Messages);
                member.Log.Clear();
                var region = Assert.Single(member.Multicast.Regions);
                Assert.InRange(region.Streams.Count, 0, MostStreams);
                Assert.InRange(region.Departed, 1, ViewClosing.MostDeparted + 1);
            }

            cluster.Hosts.Remove(passing);
            passing = cluster.Restart(3);
            before = life == LivesUntilFull ? LiveHeap.Bytes() : before;
        }

        long perLife = (LiveHeap.Bytes() - before) / (lives - LivesUntilFull);
        Assert.True(perLife < MostBytesPerLife, $"Each life left {perLife} B.");
        GC.KeepAlive(cluster);
    }

    // A member that learns later than the others that the sender is gone accepts a packet more.
    [Fact]
    public void A_stream_that_was_given_up_continues_behind_its_end_if_another_member_has_more_of_it()
    {
        var member = Ended();
        Assert.True(member.Region.IsGone(LoneMember.Publisher));

        member.RunRounds(1, token =>
        {
            var record = token.Add(LoneMember.Publisher);
            record.HeldByAny = 4;
            record.IsPartial = true;
        });
        var stream = member.Region.Find(LoneMember.Publisher);
        Assert.NotNull(stream);
        Assert.Equal((4, 3, 3, 3), (stream.Highest, stream.Contiguous, stream.Consumed, stream.Stable));
        Assert.True(stream.IsSenderGone);
        Assert.True(stream.Lacks(4));
        Assert.False(stream.Lacks(3));
        Assert.Equal(DropReason.None, member.Receive(stream, 4));
        Assert.Equal(DropReason.Duplicate, member.Receive(stream, 3));
        Assert.Equal([1L, 2, 3, 4], member.Consumer.Messages);
    }

    [Fact]
    public void A_stream_that_was_resumed_is_given_up_again()
    {
        var member = Ended();
        member.RunRounds(1, token => token.Add(LoneMember.Publisher).HeldByAny = 3);
        Assert.NotNull(member.Region.Find(LoneMember.Publisher));
        Assert.False(TryEnd(member));
        PassClosingPause(member);
        Assert.True(TryEnd(member));
        Assert.Null(member.Region.Find(LoneMember.Publisher));
        Assert.Equal([1L, 2, 3], member.Consumer.Messages);
    }

    [Fact]
    public void A_stream_is_kept_while_another_member_has_not_consumed_it()
    {
        var member = WithDeparted(token =>
        {
            if (token.Find(LoneMember.Publisher) is { } record)
            {
                record.ConsumedByAll = 2;
            }
        });
        Assert.False(TryEnd(member));
        Assert.NotNull(member.Region.Find(LoneMember.Publisher));
    }

    [Fact]
    public void A_stream_is_kept_while_its_own_reader_has_no_room()
    {
        var member = WithDeparted(isHolding: true);
        Assert.False(TryEnd(member));
        Assert.Equal(3, member.Region.Find(LoneMember.Publisher)!.Highest);
    }

    [Fact]
    public void Ends_of_streams_are_remembered_for_a_while_and_no_more_streams_end_than_can_be_remembered()
    {
        var ended = new EndedStreams(TimeSpan.FromSeconds(3));
        var now = TimeSpan.FromSeconds(1);
        for (int i = 0; i < EndedStreams.Most; i++)
        {
            Assert.True(ended.HasRoom(now));
            ended.Add(new NodeKey((ulong)i + 1, 1).Key(), new StreamEnd(i, now, null));
        }

        Assert.False(ended.HasRoom(now));
        Assert.True(ended.TryTake(new NodeKey(8, 1).Key(), out var end));
        Assert.Equal(7, end.Through);
        Assert.False(ended.TryTake(new NodeKey(8, 1).Key(), out _));
        Assert.True(ended.HasRoom(now + ended.MinAge));
        Assert.Equal(0, ended.Count);
        Assert.False(ended.TryTake(new NodeKey(9, 1).Key(), out _));
    }

    private static LoneMember Ended()
    {
        var member = WithDeparted();
        Assert.True(TryEnd(member));
        Assert.Null(member.Region.Find(LoneMember.Publisher));
        Assert.Null(member.Rings.Rings[0].FindResult(LoneMember.Publisher.Key()));
        Assert.Equal(1, member.Region.Ended);
        return member;
    }

    // The leader of two members, some time after the publisher of three packets was removed.
    private static LoneMember WithDeparted(Action<Token>? others = null, bool isHolding = false)
    {
        var member = new LoneMember(members: 2, rank: 0);
        member.Consumer.IsHolding = isHolding;
        member.Receive(1, 2, 3);
        member.RunRounds(6, others);
        member.Remove(LoneMember.Publisher);
        Assert.False(TryEnd(member));
        PassClosingPause(member, others);
        return member;
    }

    private static void PassClosingPause(LoneMember member, Action<Token>? others = null)
    {
        var end = member.Environment.Now + (member.Options.ClosingPause * 2);
        while (member.Environment.Now < end)
        {
            member.RunRounds(1, others);
        }
    }

    private static bool TryEnd(LoneMember member)
    {
        member.Region.EndSettled(static _ => false, out bool isAnyEnded);
        return isAnyEnded;
    }
}
